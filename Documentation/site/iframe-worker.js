// Browsers start no worker from a file, and the search runs in one. If the site is opened from a folder, this class takes
// the place of Worker: it runs the script in a frame.
if (location.protocol === 'file:') {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement('iframe')
      frame.hidden = true
      document.body.append(frame)
      const inner = frame.contentWindow
      inner.document.open()
      inner.document.write('<body>')
      inner.importScripts = (...urls) => urls.reduce(
        (loaded, each) => loaded.then(() => new Promise((done, failed) => {
          const script = inner.document.createElement('script')
          Object.assign(script, { src: each, onload: done, onerror: failed })
          inner.document.body.append(script)
        })), Promise.resolve())
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', { data }))
      const script = inner.document.createElement('script')
      script.src = url
      this.inner = inner
      this.ready = new Promise((done) => { script.onload = done })
      inner.document.body.append(script)
      inner.document.close()
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent('message', { data })))
    }
  }
}
