// What pages do in the browser beyond htmx. Every change also works without it.
(() => {
  'use strict'

  const $ = (selector, root = document) => root.querySelector(selector)
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)]
  const make = (tag, props = {}, ...children) => {
    const e = Object.assign(document.createElement(tag), props)
    e.append(...children)
    return e
  }

  // Words read aloud, and in a corner.

  function announce(text) {
    const live = $('#live')
    live.textContent = ''
    setTimeout(() => { live.textContent = text }, 50)
  }

  function toast(text, tone = 'ok', life = 8000) {
    const same = $$('#toasts .toast').find((t) => t.firstChild.textContent === text)
    if (same) same.remove()
    const close = make('button', { type: 'button', className: 'btn q s', textContent: '✕', ariaLabel: 'Dismiss' })
    close.dataset.dismiss = ''
    const box = make('div', { className: 'toast ' + tone }, make('span', { textContent: text }), close)
    $('#toasts').append(box)
    if (life) setTimeout(() => box.remove(), life)
    return box
  }

  const unreachable = 'The server cannot be reached. What you typed is still here; try again.'

  // Forms: sent once, guarded while they have changes that are not saved.

  const held = new Map() // secrets that left the page's fields, by field name
  let leaving = false

  const stateOf = (form) => form.closest('[data-busy-state]')

  function values(form) {
    const pairs = []
    for (const [name, value] of new FormData(form)) pairs.push(name + '=' + value)
    return pairs.join('\n')
  }

  const baselines = new WeakMap()
  function remember(root) {
    for (const form of $$('form[data-guard]', root)) baselines.set(form, values(form))
  }
  const isDirty = (form) => form.hasAttribute('data-dirty') || $('[aria-invalid=true]', form) || held.size > 0 || values(form) !== baselines.get(form)
  const dirtyForm = () => (leaving ? null : $$('form[data-guard]').find(isDirty))

  addEventListener('beforeunload', (e) => {
    if (dirtyForm()) e.preventDefault()
  })

  function release(form) {
    delete form.dataset.sent
    for (const b of $$('.sending', form)) b.classList.remove('sending')
    const box = stateOf(form)
    if (box && box.dataset.was) {
      box.dataset.state = box.dataset.was
      delete box.dataset.was
    }
  }

  document.addEventListener('submit', (e) => {
    const form = e.target
    if (!form.matches('[data-once]')) return
    if (form.dataset.answered) {
      delete form.dataset.answered
      leaving = true
      return
    }
    if (form.dataset.sent) {
      e.preventDefault()
      e.stopImmediatePropagation()
      return
    }
    form.dataset.sent = '1'
    if (e.submitter) e.submitter.classList.add('sending')
    const box = stateOf(form)
    if (box) {
      box.dataset.was = box.dataset.state
      box.dataset.state = box.dataset.busyState
    }
    if (form.hasAttribute('hx-post')) return
    if (form.hasAttribute('data-guard')) {
      e.preventDefault()
      sendOnceAnswered(form, e.submitter)
    } else {
      leaving = true
    }
  }, true)

  // Where nobody answers the browser shows a page of its own, and a sign-in takes
  // the place of what was typed: a guarded form is sent when neither will happen.
  async function sendOnceAnswered(form, submitter) {
    const at = document.body.dataset.rightsAt || '/api/health'
    const res = await fetch(at, { redirect: 'manual', cache: 'no-store', signal: AbortSignal.timeout(20000) }).catch(() => null)
    if (res && res.type !== 'opaqueredirect' && res.status !== 401) {
      form.dataset.answered = '1'
      form.requestSubmit(submitter)
      return
    }
    release(form)
    if (res) window.berth.signedOut(form)
    else toast(unreachable, 'bad', 0)
  }

  addEventListener('pageshow', (e) => {
    if (!e.persisted) return
    leaving = false
    $$('form[data-sent]').forEach(release)
  })

  // The second click of a double click never reaches a button: what stands
  // there may have changed in between.
  document.addEventListener('click', (e) => {
    if (e.detail > 1 && e.target.closest('button, a.btn')) {
      e.preventDefault()
      e.stopImmediatePropagation()
    }
  }, true)

  // One dialog: what is asked for is put into it, or a question of ours.

  const dialog = $('#dialog')

  function show() {
    const titled = $('[aria-labelledby]', dialog)
    if (titled) dialog.setAttribute('aria-labelledby', titled.getAttribute('aria-labelledby'))
    if (!dialog.open) dialog.showModal()
  }
  dialog.addEventListener('close', () => $('#dialog-body').replaceChildren())

  function ask(title, text, yes) {
    return new Promise((resolve) => {
      const go = make('button', { type: 'button', className: 'btn d p', textContent: yes })
      const stay = make('button', { type: 'button', className: 'btn', textContent: 'Keep as it is' })
      const box = make('section', { className: 'panel' },
        make('header', {}, make('h2', { id: 'ask-title', textContent: title })),
        make('div', { className: 'in' }, make('p', { textContent: text })),
        make('footer', {}, go, stay))
      box.setAttribute('aria-labelledby', 'ask-title')
      $('#dialog-body').replaceChildren(box)
      let answer = false
      go.onclick = () => { answer = true; dialog.close() }
      stay.onclick = () => dialog.close()
      dialog.addEventListener('close', () => resolve(answer), { once: true })
      show()
    })
  }

  document.addEventListener('click', async (e) => {
    const link = e.target.closest('a[href]')
    if (!link || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
    if (link.matches('[data-close]') && link.closest('dialog')) {
      e.preventDefault()
      dialog.close()
    } else if (link.matches('[data-dialog]')) {
      e.preventDefault()
      htmx.ajax('GET', link.href, { target: '#dialog-body', swap: 'innerHTML' })
    } else if (!link.hasAttribute('hx-get') && !link.hash && link.target !== '_blank' && dirtyForm()) {
      e.preventDefault()
      if (link.matches('[data-discard]') || await ask('Leave without saving?', 'What you changed in this form is not saved.', 'Leave')) {
        leaving = true
        location.href = link.href
      }
    }
  })

  // A private key leaves its field at once; its fingerprint takes the place.

  function takeKey(area) {
    const key = area.value
    if (!key.trim()) return
    const entry = area.closest('[data-key-entry]')
    const passphrase = $('[name="config.passphrase"]', area.form)
    held.set(area.name, key)
    area.value = ''
    area.hidden = true
    htmx.ajax('POST', entry.dataset.keyUrl, {
      target: '#key-facts', swap: 'innerHTML',
      values: { [area.name]: key, 'config.passphrase': passphrase ? passphrase.value : '' },
    })
  }

  function clearKey() {
    const area = $('[data-key-entry] textarea')
    const kept = $('[name="config.privateKey.held"]')
    if (kept) kept.remove()
    held.clear()
    area.hidden = false
    area.value = ''
    $('#key-facts').replaceChildren()
    area.focus()
  }

  document.addEventListener('paste', (e) => {
    const area = e.target.closest && e.target.closest('[data-key-entry] textarea')
    if (area) setTimeout(() => takeKey(area))
  })
  document.addEventListener('change', (e) => {
    if (e.target.matches('[data-key-entry] textarea')) takeKey(e.target)
  })

  document.addEventListener('htmx:configRequest', (e) => {
    const form = e.target.closest('form')
    if (!form || !held.size || e.detail.verb !== 'post' || /\/drafts\/(?!probe$)/.test(e.detail.path)) return
    for (const [name, value] of held) if ($('[name="' + name + '"]', form)) e.detail.parameters[name] = value
  })

  // Trusted keys and pasted settings go into the form's own fields.

  function put(field, value) {
    field.value = value
    field.dispatchEvent(new Event('input', { bubbles: true }))
    field.dispatchEvent(new Event('change', { bubbles: true }))
  }

  async function pin(button) {
    const field = document.getElementById('f-config-knownHosts')
    const line = button.dataset.pin
    const host = line.split(' ')[0]
    let lines = field.value.split('\n').filter((l) => l.trim())
    if (lines.includes(line)) return toast('That key is trusted in this form already.')
    if (button.dataset.replace === 'yes') {
      if (!await ask('Replace the trusted key?', 'The host presents another key than the one you trusted. Replace it only if you compared the fingerprint on the host itself.', 'Replace it')) return
      lines = lines.filter((l) => l.split(' ')[0] !== host)
    }
    put(field, [...lines, line, ''].join('\n'))
    toast('The key is trusted in this form. Test again, and save to keep it.')
  }

  function addVariable() {
    const rows = $$('#vars .var')
    const n = String(rows.length)
    const row = rows[rows.length - 1].cloneNode(true)
    for (const e of $$('[name], [id], [for]', row)) {
      for (const a of ['name', 'id', 'for', 'aria-label']) {
        if (e.hasAttribute(a)) e.setAttribute(a, e.getAttribute(a).replace(/(env[.-])\d+/, '$1' + n).replace(/variable \d+/, 'variable ' + (rows.length + 1)))
      }
      if (e.type === 'checkbox') e.checked = false
      else if (e.matches('input')) e.value = ''
      else if (e.matches('select')) e.selectedIndex = 0
    }
    $('#vars').append(row)
    $('input', row).focus()
  }

  // Entries of a map: one more, or one less. Names keep counting from 0.

  function renumber(list) {
    $$('[data-entry]', list).forEach((row, n) => {
      for (const e of $$('[name]', row)) e.name = e.name.replace(/\.\d+\.(key|value)$/, '.' + n + '.$1')
      for (const e of $$('[aria-label]', row)) e.ariaLabel = e.ariaLabel.replace(/entry \d+/, 'entry ' + (n + 1))
    })
  }

  function addEntry(button) {
    const list = document.getElementById(button.dataset.addEntry)
    const row = list.lastElementChild.cloneNode(true)
    for (const e of $$('input', row)) e.value = ''
    list.append(row)
    renumber(list)
    $('input', row).focus()
  }

  function dropEntry(button) {
    const row = button.closest('[data-entry]')
    const list = row.parentElement
    if (list.childElementCount > 1) row.remove()
    else for (const e of $$('input', row)) e.value = ''
    renumber(list)
    list.dispatchEvent(new Event('input', { bubbles: true }))
    $('input', list).focus()
  }

  function unset(button) {
    const field = document.getElementById(button.dataset.unset)
    put(field, '')
    field.focus()
  }

  // Clicks on what has no address.

  async function copy(button, text) {
    const label = button.textContent
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
      announce('Copied.')
      setTimeout(() => { button.textContent = label }, 2000)
    } catch {
      toast('The browser does not let this page copy. Select the text instead.', 'bad')
    }
  }

  document.addEventListener('click', (e) => {
    const b = e.target.closest('button')
    if (!b) return
    if ('dismiss' in b.dataset) b.closest('.toast').remove()
    else if ('copy' in b.dataset) copy(b, b.dataset.copy)
    else if ('copyFrom' in b.dataset) copy(b, $(b.dataset.copyFrom).textContent)
    else if ('keyClear' in b.dataset) clearKey()
    else if ('pin' in b.dataset) pin(b)
    else if ('addVar' in b.dataset) addVariable()
    else if ('addEntry' in b.dataset) addEntry(b)
    else if ('dropEntry' in b.dataset) dropEntry(b)
    else if ('unset' in b.dataset) unset(b)
    else if ('reveal' in b.dataset) reveal(b)
    else if ('follow' in b.dataset) follow(b.getAttribute('aria-pressed') !== 'true')
  })

  // A password shows what was typed; when it is sent it is hidden again.

  function reveal(button) {
    const field = document.getElementById(button.dataset.reveal)
    const hidden = field.type === 'password'
    field.type = hidden ? 'text' : 'password'
    button.textContent = hidden ? 'Hide' : 'Show'
    button.ariaLabel = button.ariaLabel.replace(/^\w+/, button.textContent)
  }
  document.addEventListener('submit', (e) => {
    for (const b of $$('[data-reveal]', e.target)) if (document.getElementById(b.dataset.reveal).type === 'text') reveal(b)
  }, true)

  // A test says so when the form was edited after it.
  document.addEventListener('input', (e) => {
    const test = e.target.form && $('#test', e.target.form)
    if (test) test.classList.add('edited-since')
  })

  // Output follows its end until somebody scrolls up.

  const maxPieces = 5000

  function follow(on) {
    const out = $('#output')
    const button = $('[data-follow]')
    if (button) button.setAttribute('aria-pressed', on)
    if (on && out) out.scrollTop = out.scrollHeight
  }
  const follows = () => { const b = $('[data-follow]'); return b && b.getAttribute('aria-pressed') === 'true' }

  function appended() {
    const out = $('#output')
    const box = out.closest('[data-shown-state]')
    if (box.dataset.state === 'none') box.dataset.state = box.dataset.shownState
    while (out.childElementCount > maxPieces) out.firstElementChild.remove()
    if (follows()) out.scrollTop = out.scrollHeight
  }

  document.addEventListener('wheel', (e) => {
    if (e.deltaY < 0 && e.target.closest && e.target.closest('#output')) follow(false)
  }, { passive: true })
  document.addEventListener('scroll', (e) => {
    if (e.target.id === 'output' && e.target.scrollTop + e.target.clientHeight >= e.target.scrollHeight - 4) follow(true)
  }, { capture: true, passive: true })

  // An open menu closes when something else is clicked.
  document.addEventListener('click', (e) => {
    for (const menu of $$('details[data-menu][open]')) if (!menu.contains(e.target)) menu.open = false
  })

  // Keys.

  const typing = (e) => e.target.closest('input, select, textarea, [contenteditable]')

  function moveRow(step) {
    const links = $$('[data-rows] > li').map((li) => $('a', li))
    if (!links.length) return
    const at = links.findIndex((a) => a.closest('li').contains(document.activeElement))
    const to = links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))]
    to.focus()
    to.closest('li').scrollIntoView({ block: 'nearest' })
  }

  document.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
      const form = (e.target.form || $('form[data-save]'))
      if (form && form.matches('[data-save]')) {
        e.preventDefault()
        form.requestSubmit($('button.p', form))
      }
      return
    }
    if (e.key === 'Escape') for (const menu of $$('details[data-menu][open]')) { menu.open = false; $('summary', menu).focus() }
    if (e.ctrlKey || e.metaKey || e.altKey || dialog.open) return
    if (e.target.matches('[data-filter]') && e.key === 'ArrowDown') return e.preventDefault(), moveRow(1)
    if (typing(e)) return
    const inRows = e.target.closest('[data-rows]')
    if (e.key === '/' && $('[data-filter]')) return e.preventDefault(), $('[data-filter]').focus()
    if (e.key === 'j' || (e.key === 'ArrowDown' && inRows)) return e.preventDefault(), moveRow(1)
    if (e.key === 'k' || (e.key === 'ArrowUp' && inRows)) return e.preventDefault(), moveRow(-1)
  })

  // What htmx brings.

  document.addEventListener('htmx:beforeOnLoad', (e) => {
    const { xhr } = e.detail
    if (xhr.status !== 401 && xhr.getResponseHeader('HX-Redirect')) leaving = true
  })

  document.addEventListener('htmx:beforeRequest', (e) => {
    // A filter was looked up as it was typed. When its field is left, by a click
    // on a row, to look it up again would replace the row under the click.
    const by = e.detail.requestConfig.triggeringEvent
    if (by && by.type === 'change' && by.target.matches('[data-filter]')) return e.preventDefault()
    const list = e.detail.target
    if (list && list.matches('#environments-list, [data-late]')) {
      list.late = setTimeout(() => { list.dataset.state = list.dataset.busyState }, 300)
    }
  })

  document.addEventListener('htmx:afterRequest', (e) => {
    const { elt, target, successful } = e.detail
    if (target) clearTimeout(target.late)
    if (elt.matches('form[data-once]') && !leaving) release(elt)
    const box = elt.matches('form') && stateOf(elt)
    if (box && !successful && e.detail.failed && ![409, 412, 422].includes(e.detail.xhr.status)) box.dataset.state = box.dataset.errorState
  })

  document.addEventListener('htmx:responseError', (e) => {
    const page = new DOMParser().parseFromString(e.detail.xhr.responseText, 'text/html')
    const said = page.querySelector('[role=alert] span')
    toast(said ? said.textContent.trim().replace(/\s+/g, ' ') : 'The server could not do that. Try again.', 'bad', 0)
  })
  document.addEventListener('htmx:sendError', () => toast(unreachable, 'bad', 0))
  document.addEventListener('htmx:timeout', () => toast('The server took too long to answer. Try again.', 'bad', 0))

  function focusBad(root) {
    const bad = $('[aria-invalid=true]', root)
    if (!bad) return
    const closed = bad.closest('details:not([open])')
    if (closed) closed.open = true
    bad.focus()
  }

  // Every element that is swapped in comes by here, however it arrived.
  document.addEventListener('htmx:load', (e) => {
    const root = e.detail.elt
    if (root === document.body) return
    if (root.parentElement && root.parentElement.id === 'output') return appended()
    remember(root.parentElement || root)
    const said = root.matches('[data-announce]') ? root : $('[data-announce]', root)
    if (said) announce(said.dataset.announce)
    if (root.closest('#dialog-body')) show()
    if (root.id === 'run-summary') $('#run').dataset.state = root.dataset.state
    if (root.id === 'environment-form') {
      focusBad(root)
      if (held.size) $('[data-key-entry] textarea').hidden = true
    }
    if (root.id === 'key-read' && root.dataset.state !== 'readable' && root.dataset.state !== 'weak') {
      const unreadable = root.dataset.state === 'unreadable'
      held.clear()
      $('[data-key-entry] textarea').hidden = !unreadable
    }
    if (root.matches('.err')) {
      const field = document.getElementById(root.id.replace(/-err$/, ''))
      if (field) root.textContent ? field.setAttribute('aria-invalid', 'true') : field.removeAttribute('aria-invalid')
    }
    for (const filled of $$('[data-fill-field]', root)) {
      const field = $('[name="' + filled.dataset.fillField + '"]')
      if (field && field.value !== filled.textContent) put(field, filled.textContent)
    }
  })

  // What live.js needs of this file.

  window.berth = { $, $$, make, toast, dirtyForm, leave: () => { leaving = true }, isLeaving: () => leaving }

  // The page as it came.

  remember(document)
  const current = $('.menu [aria-current]')
  if (current) current.scrollIntoView({ inline: 'nearest', block: 'nearest' })
  focusBad(document)
  const shownOnce = $('section:has(> .once)')
  if (shownOnce) shownOnce.focus()
  follow(!!$('[data-follow]'))
  if (new URLSearchParams(location.search).has('done')) {
    const url = new URL(location)
    url.searchParams.delete('done')
    history.replaceState(history.state, '', url)
    const note = $('#toasts .toast')
    if (note) setTimeout(() => note.remove(), 8000)
  }
})()
