// What an open page does by itself: it keeps its times fresh, looks at the rows
// whose tests are under way, and notices when its reader may not read it any more.
(() => {
  'use strict'

  const { $, $$, make, toast, dirtyForm, leave, isLeaving } = window.berth

  // Times stay fresh. The rules are those of the server.

  function ago(at, now) {
    const s = Math.floor((now - at) / 1000)
    if (s < 10) return 'just now'
    if (s < 60) return s + ' s ago'
    if (s < 3600) return Math.floor(s / 60) + ' min ago'
    if (s < 48 * 3600) return Math.floor(s / 3600) + ' h ago'
    if (s < 60 * 86400) return Math.floor(s / 86400) + ' days ago'
    return null
  }

  function refreshTimes() {
    const now = Date.now()
    for (const t of $$('time[datetime]')) {
      const text = ago(Date.parse(t.dateTime), now)
      if (text && text !== t.textContent) t.textContent = text
    }
  }
  refreshTimes()
  setInterval(refreshTimes, 30000)

  // What goes on counts up, from what the server said.
  setInterval(() => {
    for (const e of $$('[data-elapsed]')) {
      if (e.began === undefined) e.began = Date.now() - e.dataset.elapsed * 1000
      const text = Math.floor((Date.now() - e.began) / 1000) + ' s'
      if (text !== e.textContent) e.textContent = text
    }
  }, 500)

  // What is to be known of the chosen environment alone is shown.

  function showChosen() {
    for (const box of $$('[data-shows-for]')) {
      const choice = document.getElementById(box.dataset.showsFor)
      for (const e of $$('[data-for]', box)) e.hidden = e.dataset.for !== choice.value
    }
  }
  document.addEventListener('change', (e) => { if (e.target.id && $('[data-shows-for="' + e.target.id + '"]')) showChosen() })
  showChosen()

  // A wait counts down.
  const waiting = $('[data-countdown]')
  if (waiting) {
    const over = Date.now() + waiting.textContent * 1000
    const tick = setInterval(() => {
      const left = Math.max(0, Math.ceil((over - Date.now()) / 1000))
      waiting.textContent = left
      if (left) return
      clearInterval(tick)
      waiting.parentElement.textContent = 'Try again now.'
    }, 1000)
  }

  // Rows whose tests are under way are looked at until the last has ended.

  let looking = false
  setInterval(async () => {
    const rows = $('#rows')
    const marks = $$('input[name=watch]').slice(0, 100)
    const watch = marks.map((i) => i.value)
    if (!rows || !watch.length || looking || document.hidden) return
    looking = true
    try {
      await htmx.ajax('GET', rows.dataset.watch, { source: rows, target: rows, swap: 'none', values: { watch } })
    } finally {
      looking = false
      for (const i of marks) {
        i.missed = (i.missed || 0) + 1 // a row that answers is replaced, with its mark
        if (i.missed > (rows.dataset.patience || 20)) i.remove()
      }
    }
  }, 1500)

  // A list says so when there is something that it does not show. It is not put
  // there by itself: rows that move are clicked by mistake.

  let reading = false
  setInterval(async () => {
    const news = $('[data-news]')
    if (!news || reading || document.hidden || !news.firstElementChild.hidden) return
    reading = true
    try {
      const res = await fetch(news.dataset.news, { redirect: 'manual', cache: 'no-store' })
      const ids = res.ok ? (await res.text()).split('\n').filter(Boolean) : []
      if (ids.some((id) => !document.getElementById('lease-' + id))) news.firstElementChild.hidden = false
    } catch {
      // the server is away: the next look tells
    } finally {
      reading = false
    }
  }, 4000)

  // Whoever was signed out meanwhile is taken to the sign-in page and back; what
  // is typed in a form stays, and can be sent after signing in elsewhere. kept is
  // a form that was about to be sent.
  let tellsSignedOut = null
  function signedOut(kept) {
    const to = '/signin?next=' + encodeURIComponent(document.body.dataset.here || location.pathname + location.search)
    if (!kept && !dirtyForm()) {
      leave()
      location.assign(to)
    } else if (!tellsSignedOut || !tellsSignedOut.isConnected) {
      tellsSignedOut = toast('You were signed out. What you typed is still here.', 'bad', 0)
      tellsSignedOut.firstChild.append(' ', make('a', { href: to, target: '_blank', textContent: 'Sign in in another tab' }))
    }
  }
  window.berth.signedOut = signedOut

  // A page is for whom it was made. When its reader is signed out it goes to the
  // sign-in, and when they may do something else by now it is loaded again.

  const { rights, rightsAt, here } = document.body.dataset
  let asking = false
  let told = false
  let goneAt = 0 // another page was asked for, which may have been a file to keep
  addEventListener('beforeunload', () => { goneAt = Date.now() })

  async function checkRights() {
    if (!rights || asking || document.hidden) return
    asking = true
    try {
      const res = await fetch(rightsAt, { redirect: 'manual', cache: 'no-store' })
      const now = res.ok ? await res.text() : ''
      if (isLeaving() || Date.now() - goneAt < 5000) return
      if (res.ok && tellsSignedOut) tellsSignedOut.remove() // signed in again, in another tab
      if (res.type === 'opaqueredirect' || res.status === 401) {
        signedOut()
      } else if (res.ok && now !== rights) {
        if (!dirtyForm() && !$('.once')) {
          leave()
          location.replace(here)
        } else if (!told) {
          told = true
          toast('What you may do has changed. Load the page again when you are done here.', 'bad', 0)
        }
      }
    } catch {
      // the server is away: the next look tells
    } finally {
      asking = false
    }
  }
  setInterval(checkRights, 3000)
  document.addEventListener('visibilitychange', checkRights)

  document.addEventListener('htmx:beforeOnLoad', (e) => {
    const { xhr } = e.detail
    if (xhr.status !== 401 || !xhr.getResponseHeader('HX-Redirect')) return
    e.preventDefault()
    signedOut()
  })

  // A stream whose reader may read no more ends with the reason.
  document.addEventListener('htmx:sseBeforeMessage', (e) => {
    const { type, data } = e.detail
    if (type !== 'end' || !data.startsWith('{"reason":')) return
    e.preventDefault()
    if (JSON.parse(data).reason === 'signed_out') signedOut()
    else if (!dirtyForm()) location.reload()
  })

  let outage = null
  document.addEventListener('htmx:sseError', async (e) => {
    if (e.detail.source.readyState === EventSource.CLOSED) { // it was refused; why, only another request can tell
      const me = await fetch('/api/cli-auth/me').catch(() => null)
      if (me && me.status === 401) return signedOut()
    }
    if (!isLeaving() && !outage) outage = toast('The connection is interrupted; what is shown may be old. Trying again…', 'bad', 0)
  })
  document.addEventListener('htmx:sseOpen', () => {
    if (outage) outage.remove()
    outage = null
  })

  document.documentElement.dataset.ready = '' // the last script has run
})()
