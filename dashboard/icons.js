/** Icons of cards, by name: lines in a square of 24. A name is what a thing is, not where it is used. */

import { says } from './language.js'

export const ICONS = {
  __proto__: null,
  bell: 'M6 17v-6a6 6 0 0 1 12 0v6l2 2H4zM10 21.5h4',
  blind: 'M4 4h16M5 4v13h14V4M5 8h14M5 12h14M12 17v3',
  bolt: 'M13 3 5 14h6l-1 7 8-11h-6z',
  camera: 'M4 8h3l2-3h6l2 3h3v11H4zM12 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z',
  car: 'M4 16v-4l2-6h12l2 6v4zM4 12h16M7 16v3M17 16v3',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2',
  cloud: 'M7 19a4.5 4.5 0 0 1-.5-9A6 6 0 0 1 18 10.5 4.3 4.3 0 0 1 17 19z',
  cpu: 'M7 7h10v10H7zM10 10h4v4h-4zM10 7V3M14 7V3M10 21v-4M14 21v-4M7 10H3M7 14H3M21 10h-4M21 14h-4',
  disk: 'M5 4h14v16H5zM12 14a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 10h.01M8.5 17h.01',
  door: 'M6 21V3h12v18M4 21h16M14.5 12h.01',
  drop: 'M12 3s6.5 7 6.5 11.5a6.5 6.5 0 0 1-13 0C5.5 10 12 3 12 3z',
  fan: 'M12 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12 10.5C9 8 9.5 3 13 3s3.5 4 .3 7.8M13.3 12.7C17 11.3 21 13.8 19.5 17s-5.3 1.7-7-2.1M10.7 12.9C10 16.8 5.5 19 4 16s1.2-5.2 6.5-4.2',
  flame: 'M12 21a6.5 6.5 0 0 1-6.5-6.5C5.5 10 10 9 10 3c4 2 5 5 4.5 7.5 1-.5 1.5-1.5 1.5-2.5 1.5 2 2.5 4 2.5 6.5A6.5 6.5 0 0 1 12 21z',
  folder: 'M3 6h6l2 2.5h10V19H3z',
  gauge: 'M5 18a9 9 0 1 1 14 0M12 14l4-5',
  heart: 'M12 20S4 15 4 9.5A4.2 4.2 0 0 1 12 7.5 4.2 4.2 0 0 1 20 9.5C20 15 12 20 12 20z',
  home: 'M4 11 12 4l8 7M6 9.5V20h12V9.5M10 20v-6h4v6',
  key: 'M8 18a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM11 11.5 19 4M16 7l3 3',
  leaf: 'M5 19C4 9 9 4 20 4c0 11-5 15-12.5 14.5M5 21c1-6 4-9 9-11',
  lightbulb: 'M9 18h6M10 21h4M9 18c0-3-3-4-3-8.5a6 6 0 0 1 12 0C18 14 15 15 15 18',
  lock: 'M6 11h12v10H6zM8 11V8a4 4 0 0 1 8 0v3M12 15v2',
  memory: 'M3 8h18v8H3zM7 8v4M11 8v4M15 8v4M5 16v2M9 16v2M15 16v2M19 16v2',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  music: 'M9 18V5l11-2v13M6.5 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM17.5 18.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  network: 'M9 3h6v5H9zM3 16h6v5H3zM15 16h6v5h-6zM12 8v4M6 16v-4h12v4',
  person: 'M12 11.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 21c0-4.5 3-7 7.5-7s7.5 2.5 7.5 7',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  power: 'M12 3v8M7 6a8 8 0 1 0 10 0',
  server: 'M4 4h16v7H4zM4 13h16v7H4zM7.5 7.5h.01M7.5 16.5h.01M12 7.5h5M12 16.5h5',
  snow: 'M12 3v18M4.2 7.5l15.6 9M4.2 16.5l15.6-9M9.5 4.5 12 7l2.5-2.5M9.5 19.5 12 17l2.5 2.5',
  speaker: 'M4 9h4l5-4v14l-5-4H4zM16.5 8.5a5 5 0 0 1 0 7M19 6a8.5 8.5 0 0 1 0 12',
  sun: 'M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19',
  thermometer: 'M10 14V5a2 2 0 0 1 4 0v9a4.5 4.5 0 1 1-4 0zM12 9v7.5',
  wifi: 'M3 9.5a13 13 0 0 1 18 0M6 13a8.5 8.5 0 0 1 12 0M9 16.3a4.3 4.3 0 0 1 6 0M12 19.5h.01',
  wind: 'M3 9h11a3 3 0 1 0-3-3M3 13h15a3 3 0 1 1-3 3M3 17h7a2.5 2.5 0 1 1-2.5 2.5',
  window: 'M5 3h14v18H5zM12 3v18M5 12h14',
}

/** Draws an icon, or says that there is none with this name. */
export function draw(element, name) {
  const path = ICONS[name]
  if (!path) {
    element.textContent = '?'
    element.title = says.noIcon(name)
    return
  }
  const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  picture.setAttribute('viewBox', '0 0 24 24')
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  line.setAttribute('d', path)
  picture.append(line)
  element.replaceChildren(picture)
}
