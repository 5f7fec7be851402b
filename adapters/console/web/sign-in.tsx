import { useEffect, useState } from 'preact/hooks'
import type { Verified } from '../../platform/routes/verify-session-routes.ts'
import { ApiError, api } from './api.ts'
import { ErrorNote } from './components/content.ts'
import { Form, Primary, TextField, useAction } from './components/forms.ts'
import { Mark } from './logo.tsx'
import { pageNamed } from './page-list.ts'
import { place } from './router.ts'
import { beginSession, endedBecause } from './signed-in.ts'

const NOT_VALID = 'This key is invalid or was revoked. Check that you pasted the whole key.'

/** Asks for a key, and begins a session once the platform accepts it. */
export function SignIn() {
  const [key, setKey] = useState('')
  const { busy, error, run } = useAction()

  useEffect(() => {
    document.title = 'Sign in · Gazeway'
  }, [])

  const signIn = async () => {
    const given = validKey(key.trim())
    const { tier, subject, capabilities } = await verified(given)
    setKey('')
    const isInference = !capabilities.includes('usage_analytics')
    beginSession({ key: given, id: subject ?? 'unknown', isAdmin: tier === 'admin', isInference })
  }

  return (
    <main class="sign-in">
      <Form class="card" onSubmit={() => run(signIn)}>
        <h1>
          <Mark /> Gazeway
        </h1>
        <p class="intro">What your agents do, and what it costs.</p>
        {endedBecause.value && (
          <p class="error-note" role="alert">
            {endedBecause.value}
          </p>
        )}
        <TextField
          label="API key"
          hint={
            <>
              Any key of this Gazeway. A key of an admin sees all; another sees its own pages. The first admin key is in{' '}
              <code>admin.key</code> in the data folder; <code>gazeway key create --name me --scope admin</code> makes
              another.
            </>
          }
          type="password"
          name="key"
          autoComplete="off"
          spellcheck={false}
          placeholder="gzw_…"
          value={key}
          onInput={(typed) => {
            setKey(typed)
            loadFirstPage()
          }}
        />
        <ErrorNote error={error} />
        <Primary busy={busy}>Sign in</Primary>
        <p class="hint">The key is stored in this tab until you sign out or close the tab.</p>
      </Form>
    </main>
  )
}

/** Loads the module of the first page while the key is checked. A failure is shown once the page is opened. */
function loadFirstPage(): void {
  pageNamed(place.value.page)
    ?.load()
    .catch(() => {})
}

/** @throws Error for a key that no server accepts */
function validKey(key: string): string {
  if (key === '') throw new Error('Enter a key.')
  // Browsers allow no other characters in a header.
  if (!/^[!-~]+$/.test(key)) throw new Error(NOT_VALID)
  return key
}

/** Asks the platform about a key. @throws its refusal in words for the person */
const verified = (key: string): Promise<Verified> =>
  api.post('/api/verify-session', { key }, { key }).catch((fault) => {
    throw inWords(fault)
  })

function inWords(fault: unknown): unknown {
  if (!(fault instanceof ApiError)) return fault
  if (fault.status === 401) return new Error(NOT_VALID)
  return fault
}
