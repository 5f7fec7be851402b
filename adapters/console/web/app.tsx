import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, offline } from './api.ts'
import { KeyNames } from './components/caller-name.tsx'
import { Empty, ErrorNote, Loading, messageOf, Notices, Page } from './components/content.ts'
import { Button } from './components/forms.ts'
import { Icon } from './components/icon.tsx'
import { shortId } from './format.ts'
import { isBeside, listIdOf, listQuery, mayBeBeside } from './list-beside-record.ts'
import { Mark } from './logo.tsx'
import { pageNamed, shownGroups } from './page-list.ts'
import { href, type PageProps, place } from './router.ts'
import { scrollToPlace } from './scroll-memory.ts'
import { SignIn } from './sign-in.tsx'
import { endSession, session } from './signed-in.ts'
import { useVerified } from './use-verified.ts'

/** Console: the sign-in, or the navigation with the page of the address. */
export function App() {
  return (
    <>
      {offline.value && (
        <p class="offline" role="alert">
          Gazeway does not answer; retrying… This page may be out of date.
        </p>
      )}
      {session.value ? <Console isAdmin={session.value.isAdmin} id={session.value.id} /> : <SignIn />}
      <Notices />
    </>
  )
}

function Console({ isAdmin, id }: { isAdmin: boolean; id: string }) {
  // A key with the scope inference sees its own page in place of those that it may not.
  const isOpen = !session.value?.isInference || pageNamed(place.value.page)?.own === true
  const { page, id: of, query } = isOpen ? place.value : { page: 'keys', id: null, query: new URLSearchParams() }
  const main = useRef<HTMLElement>(null)
  const [open, setOpen] = useState(false)
  const first = useRef(true)

  useVerified(() => {
    // A key that is not accepted ends the session. Other faults are shown where they matter.
    if (session.value) api.post('/api/verify-session', { key: session.value.key }).catch(() => {})
  })
  useEffect(() => {
    // The focus went with the record that was left.
    if (!first.current && document.activeElement === document.body) main.current?.focus({ preventScroll: true })
  }, [of])
  useEffect(() => {
    setOpen(false)
    if (!first.current) main.current?.focus()
    first.current = false
  }, [page])
  useEffect(() => scrollToPlace(main.current), [page, of])

  return (
    <div class="shell">
      <KeyNames />
      <header class={open ? 'side open' : 'side'}>
        <a
          class="skip"
          href={href(page, { id: of })}
          onClick={(event) => {
            event.preventDefault()
            main.current?.focus()
          }}
        >
          Skip to content
        </a>
        <div class="side-head">
          <a class="brand" href={href('overview')}>
            <Mark />
            <span class="word">Gazeway</span>
          </a>
          <button
            type="button"
            class="menu small"
            aria-expanded={open}
            aria-controls="navigation"
            onClick={() => setOpen(!open)}
          >
            Menu
          </button>
        </div>
        <div class="side-body" id="navigation">
          <Finder />
          <Navigation page={page} />
          <div class="who">
            <p title={id}>
              {isAdmin ? 'Admin' : 'Signed in'} · <code>{shortId(id)}</code>
            </p>
            <Button size="small" onClick={() => endSession()}>
              <Icon name="leave" />
              <span class="word">Sign out</span>
            </Button>
          </div>
        </div>
      </header>
      <main ref={main} tabIndex={-1} class={isBeside({ page, id: of }) ? 'beside' : undefined}>
        {mayBeBeside(page) && (
          <Guarded key={`${page} list`}>
            <Shown name={page} id={listIdOf(page, of)} query={listQuery()} />
          </Guarded>
        )}
        {(isBeside({ page, id: of }) || !mayBeBeside(page)) && (
          <Guarded key={page}>
            <Shown name={page} id={of} query={query} />
          </Guarded>
        )}
      </main>
    </div>
  )
}

/** Longest text that is searched for when it is pasted outside of a field, in characters. */
const LONGEST_PASTED = 512

/**
 * Button of the palette, which Ctrl+K and ⌘K open too, and text that is pasted outside of a field. The palette is loaded when it
 * is first opened.
 */
function Finder() {
  const [open, setOpen] = useState(false)
  const [pasted, setPasted] = useState('')
  const [Palette, setPalette] = useState<ComponentType<{ initial: string; onClose: () => void }> | null>(null)
  const [error, setError] = useState<unknown>(null)

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      // One dialog at a time.
      if (!document.querySelector('dialog[open]')) setOpen(true)
    }
    const onPaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text').trim() ?? ''
      const isElsewhere = (event.target as Element).closest('input, textarea') ?? document.querySelector('dialog[open]')
      if (isElsewhere || text === '' || text.length > LONGEST_PASTED || text.includes('\n')) return
      setPasted(text)
      setOpen(true)
    }
    addEventListener('keydown', onKey)
    addEventListener('paste', onPaste)
    return () => {
      removeEventListener('keydown', onKey)
      removeEventListener('paste', onPaste)
    }
  }, [])
  useEffect(() => {
    if (!open) setPasted('')
    if (open) import('./palette/palette.tsx').then(({ default: component }) => setPalette(() => component), setError)
  }, [open])

  return (
    <>
      <button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick={() => setOpen(true)}>
        <Icon name="search" />
        <span class="word">Find</span>
        <kbd>Ctrl K</kbd>
      </button>
      <ErrorNote error={error} />
      {open && Palette && <Palette initial={pasted} onClose={() => setOpen(false)} />}
    </>
  )
}

function Navigation({ page }: { page: string }) {
  return (
    <nav aria-label="Pages">
      {shownGroups(session.value?.isInference).map(({ label, pages }) => (
        <div key={label} class="nav-group">
          <p id={`nav-${label}`}>{label}</p>
          <ul aria-labelledby={`nav-${label}`}>
            {pages.map(({ name, label: word }) => (
              <li key={name}>
                <a href={href(name)} title={word} aria-current={name === page ? 'page' : undefined}>
                  <Icon name={name} />
                  <span class="word">{word}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** Error boundary of a page: an error in one page leaves the others usable. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [fault, reset] = useErrorBoundary((error) => reportError(error))
  // Another address of the same page may work.
  useEffect(reset, [place.value])
  if (fault === undefined) return <div class="pane">{children}</div>
  return <ErrorNote error={new Error(`This page failed: ${messageOf(fault)}`)} onRetry={reset} />
}

/** Page of a name, after its module is loaded. */
function Shown({ name, ...props }: PageProps & { name: string }) {
  const [loaded, setLoaded] = useState<ComponentType<PageProps> | null>(null)
  const [error, setError] = useState<unknown>(null)
  const entry = pageNamed(name)

  // Before the page is painted: a module that is there already is shown at once.
  useLayoutEffect(() => {
    entry?.load().then(({ default: component }) => setLoaded(() => component), setError)
  }, [name])

  if (!entry) {
    return (
      <Page title="Page not found">
        <Empty title={`There is no page “${name}”.`} action={<a href={href('overview')}>Go to the overview</a>} />
      </Page>
    )
  }
  if (error !== null) {
    const because = 'Gazeway was updated or does not answer. Retry to reload the console.'
    return <ErrorNote error={new Error(`${entry.label} could not be loaded: ${because}`)} onRetry={reloadConsole} />
  }
  const Component = loaded
  return Component ? <Component {...props} /> : <Loading what={entry.label.toLowerCase()} />
}

/**
 * Reloads the console, because the files of another version have other names. While nothing answers, the page stays, as
 * there is nothing to load.
 */
function reloadConsole(): void {
  api.get('/health').then(
    () => location.reload(),
    () => {},
  )
}
