/**
 * The page's own words, in the language of the board or else of the browser. Each language has one file with the same
 * names as english.js. A language is added by its file and a line here.
 */

import english from './english.js'

const OTHERS = { __proto__: null, de: () => import('./german.js') }

/** The words. They are read when something is drawn, because another language may come. */
export let says = english
export let language = 'en'

/** Takes the words of a locale (`de_AT`), if there are any. The result is true if they are other ones than before. */
export async function speak(locale = globalThis.navigator?.language) {
  const wanted = String(locale).toLowerCase().split(/[-_]/)[0]
  const found = OTHERS[wanted] ? wanted : 'en'
  if (found === language) return false
  try {
    says = found === 'en' ? english : (await OTHERS[found]()).default
    language = found
    return true
  } catch {
    // Without a connection the words stay as they are.
    return false
  }
}

/** Writes the words into a document: `data-says` names a text, `data-label` the name of a control, `data-hint` its tip. */
export function write(root) {
  const places = { says: (element, text) => (element.textContent = text), label: (element, text) => element.setAttribute('aria-label', text), hint: (element, text) => (element.title = text), holder: (element, text) => (element.placeholder = text) }
  for (const [name, put] of Object.entries(places)) {
    for (const each of root.querySelectorAll(`[data-${name}]`)) put(each, says[each.dataset[name]])
  }
  root.documentElement.lang = language
}

await speak()
