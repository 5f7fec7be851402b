import './reference.css'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { OpenApi } from '../../../platform/openapi.ts'
import { api } from '../api.ts'
import { Button, TextField } from '../components/fields.tsx'
import { Card, Page, Tabs } from '../components/layout.tsx'
import { ErrorNote, Loading } from '../components/notes.tsx'
import { shortId } from '../format.ts'
import { Mark } from '../logo.tsx'
import { SignIn } from '../sign-in.tsx'
import { endSession, session } from '../signed-in.ts'
import { type ApiDocument, documentOf, found } from './api-document.ts'
import { OperationView } from './operation-view.tsx'
import { Method } from './schema-view.tsx'

/** Descriptions of the APIs of the two ports. */
const DESCRIPTIONS = { platform: '/openapi.json', gateway: '/gateway-openapi.json' } as const
type ApiName = keyof typeof DESCRIPTIONS

const APIS: readonly { id: ApiName; label: string }[] = [
  { id: 'platform', label: 'Platform' },
  { id: 'gateway', label: 'Gateway' },
]

/** Paths of the gateway that this port has, too. */
const FORWARDED = /^\/(v1|v1beta|api)\//

/** Place in the reference, from the fragment of the address: `#gateway/createMessage`, `#rotateKey`. */
function placeIn(hash: string): { api: ApiName; operation: string | null } {
  const parts = hash.replace(/^#/, '').split('/')
  const isGateway = parts[0] === 'gateway'
  return { api: isGateway ? 'gateway' : 'platform', operation: (isGateway ? parts[1] : parts[0]) || null }
}

const hrefOf = (name: ApiName, operation = '') => `#${name === 'gateway' ? `gateway/${operation}` : operation}`

/** Reference of the API: groups and search on one side, an operation or the list of all on the other. */
export function Reference() {
  const [place, setPlace] = useState(() => placeIn(location.hash))
  const [search, setSearch] = useState('')
  const [signingIn, setSigningIn] = useState(false)
  const { document: described, error } = useDocument(place.api)
  const main = useRef<HTMLElement>(null)

  useEffect(() => {
    const onHash = () => {
      setPlace(placeIn(location.hash))
      main.current?.focus()
      scrollTo(0, 0)
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])
  useEffect(() => {
    if (session.value) setSigningIn(false)
  }, [session.value])
  useSlash()

  if (signingIn && !session.value) return <SignIn />
  const operation = described?.operations.find(({ operationId }) => operationId === place.operation)
  return (
    <div class="shell ref-shell">
      <a
        class="skip"
        href={hrefOf(place.api, place.operation ?? '')}
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        Skip to content
      </a>
      <header class="side ref-side">
        <div class="side-head">
          <a class="brand" href="/">
            <Mark />
            <span class="word">Gazeway API</span>
          </a>
        </div>
        <Tabs
          label="API"
          tabs={APIS}
          active={place.api}
          onChange={(name) => {
            location.hash = hrefOf(name)
          }}
        />
        <TextField
          label="Search"
          type="search"
          name="search"
          value={search}
          onInput={setSearch}
          placeholder="/"
          autoComplete="off"
        />
        {described && <Operations document={described} api={place.api} search={search} at={place.operation} />}
        <div class="who">
          {session.value ? (
            <>
              <code title={session.value.id}>{shortId(session.value.id)}</code>
              <Button size="small" onClick={() => endSession()} children="Sign out" />
            </>
          ) : (
            <Button size="small" onClick={() => setSigningIn(true)} children="Sign in" />
          )}
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <ErrorNote error={error} />
        {!described && error === null && <Loading what="the reference" />}
        {described && operation && (
          <OperationView
            key={`${place.api}/${operation.operationId}`}
            operation={operation}
            document={described}
            base={baseOf(described)}
            isHere={place.api === 'platform' || FORWARDED.test(operation.path)}
            onSignIn={() => setSigningIn(true)}
          />
        )}
        {described && !operation && <Overview document={described} api={place.api} search={search} />}
      </main>
    </div>
  )
}

/** Address that requests of an API go to. */
const baseOf = ({ servers }: ApiDocument): string => {
  const url = servers[0]?.url ?? '/'
  return url === '/' ? location.origin : url.replace(/\/$/, '')
}

function useDocument(name: ApiName): { document: ApiDocument | null; error: unknown } {
  const [loaded, setLoaded] = useState<Partial<Record<ApiName, ApiDocument>>>({})
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    setError(null)
    if (loaded[name]) return
    api.get<OpenApi>(DESCRIPTIONS[name]).then((description) => {
      setLoaded((all) => ({ ...all, [name]: documentOf(description) }))
    }, setError)
  }, [name])
  return { document: loaded[name] ?? null, error }
}

/** The key `/` goes to the search, unless somebody writes. */
function useSlash(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { tagName } = event.target as HTMLElement
      if (event.key !== '/' || tagName === 'INPUT' || tagName === 'TEXTAREA') return
      event.preventDefault()
      document.querySelector<HTMLInputElement>('input[name=search]')?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

interface Listed {
  document: ApiDocument
  api: ApiName
  search: string
}

function Operations({ document, api: name, search, at }: Listed & { at: string | null }) {
  const operations = found(document.operations, search)
  const tags = document.tags.filter((tag) => operations.some(({ tags: of }) => of.includes(tag.name)))
  return (
    <nav class="ref-nav" aria-label="Operations">
      {operations.length === 0 && <p>Nothing is found.</p>}
      {tags.map(({ name: tag }) => (
        <details
          key={`${tag} ${search === ''}`}
          open={search !== '' || operations.some((one) => one.operationId === at && one.tags.includes(tag))}
        >
          <summary>{tag}</summary>
          <ul>
            {operations
              .filter((one) => one.tags.includes(tag))
              .map(({ operationId, summary }) => (
                <li key={operationId}>
                  <a href={hrefOf(name, operationId)} aria-current={operationId === at ? 'page' : undefined}>
                    {summary}
                  </a>
                </li>
              ))}
          </ul>
        </details>
      ))}
    </nav>
  )
}

function Overview({ document, api: name, search }: Listed) {
  const { info, tags } = document
  const path = DESCRIPTIONS[name]
  const operations = found(document.operations, search)
  return (
    <Page
      title={`${info.title} ${info.version}`}
      intro={
        <>
          {info.description} For programs: <a href={path}>{path}</a>; for agents: <a href="/llms.txt">/llms.txt</a>.
        </>
      }
    >
      {tags
        .map((tag) => ({ ...tag, operations: operations.filter((one) => one.tags.includes(tag.name)) }))
        .filter((tag) => tag.operations.length > 0)
        .map((tag) => (
          <Card key={tag.name} title={tag.name}>
            <p class="hint">{tag.description}</p>
            <ul class="ref-list">
              {tag.operations.map(({ operationId, method, path: at, summary }) => (
                <li key={operationId}>
                  <Method of={method} /> <a href={hrefOf(name, operationId)}>{at}</a>{' '}
                  <span class="muted">{summary}</span>
                </li>
              ))}
            </ul>
          </Card>
        ))}
    </Page>
  )
}
