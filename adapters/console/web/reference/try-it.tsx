import { useState } from 'preact/hooks'
import { Confirm } from '../components/dialog.tsx'
import { Button, Primary, TextField } from '../components/fields.tsx'
import { Form } from '../components/form.tsx'
import { ErrorNote } from '../components/notes.tsx'
import { useAction } from '../components/use-action.ts'
import { duration } from '../format.ts'
import { session } from '../signed-in.ts'
import type { PlacedOperation } from './api-document.ts'
import { CodeBlock } from './code-block.tsx'
import { exampleRequest, filled } from './snippets.ts'

/** Longest wait for a reply, in milliseconds: operations may ask a model. */
const LONGEST_MS = 180_000
/** Most characters of a reply that are shown. */
const LONGEST_REPLY = 100_000

interface Answer {
  status: number
  ms: number
  type: string
  text: string
}

/** Form that sends an operation with the signed-in key. What may change something is confirmed. */
export function TryIt({ operation, onSignIn }: { operation: PlacedOperation; onSignIn: () => void }) {
  const { method, parameters } = operation
  const given = exampleRequest(operation)
  const asked = parameters.filter(({ in: where }) => where !== 'header')
  const [values, setValues] = useState(() =>
    Object.fromEntries(asked.map(({ name, example, required }) => [name, required ? String(example ?? '') : ''])),
  )
  const [body, setBody] = useState(given.body ?? (operation.requestBody ? '{}' : ''))
  const [confirming, setConfirming] = useState(false)
  const [answer, setAnswer] = useState<Answer | null>(null)
  const { busy, error, run } = useAction()

  if (!session.value) {
    return (
      <p>
        <Button size="small" onClick={onSignIn} children="Sign in" /> to send it with a key.
      </p>
    )
  }
  const path = filled(operation.path, parameters, values)
  const send = async () => setAnswer(await sent(method, path, operation.requestBody ? body : null))
  const isRead = method === 'GET' || method === 'HEAD'
  return (
    <Form onSubmit={() => (isRead ? run(send) : setConfirming(true))}>
      <div class="fields">
        {asked.map(({ name, required, in: where }) => (
          <TextField
            key={name}
            label={name}
            hint={`${where}${required ? ', required' : ''}`}
            value={values[name] ?? ''}
            required={required}
            spellcheck={false}
            autoComplete="off"
            onInput={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
      </div>
      {operation.requestBody && <TextField label="Body" rows={8} value={body} spellcheck={false} onInput={setBody} />}
      <ErrorNote error={error} />
      <div class="actions">
        <Primary busy={busy}>{`Send ${method}`}</Primary>
      </div>
      {confirming && (
        <Confirm
          title={`Send ${method} ${path}?`}
          body={<p>It runs on this Gazeway with your key, and may change or cost something.</p>}
          action={`Send ${method}`}
          tone={method === 'DELETE' ? 'danger' : 'primary'}
          onConfirm={send}
          onClose={() => setConfirming(false)}
        />
      )}
      {answer && (
        <div role="status">
          <p>
            <strong>{answer.status}</strong> in {duration(answer.ms)}, {answer.type || 'no body'}
          </p>
          {answer.text && <CodeBlock text={answer.text} label="the reply" />}
        </div>
      )}
    </Form>
  )
}

/** @throws Error for a body that is not JSON, and without a reply */
async function sent(method: string, path: string, body: string | null): Promise<Answer> {
  if (body !== null) requireJson(body)
  const started = performance.now()
  const reply = await fetch(path, {
    method,
    cache: 'no-store',
    signal: AbortSignal.timeout(LONGEST_MS),
    headers: {
      accept: 'application/json, */*',
      authorization: `Bearer ${session.value?.key ?? ''}`,
      ...(body !== null && { 'content-type': 'application/json' }),
    },
    ...(body !== null && { body }),
  })
  const text = await reply.text()
  const ms = performance.now() - started
  return { status: reply.status, ms, type: reply.headers.get('content-type') ?? '', text: shown(text) }
}

function requireJson(text: string): void {
  try {
    JSON.parse(text)
  } catch {
    throw new Error('The body is not JSON.')
  }
}

function shown(text: string): string {
  let whole = text
  try {
    whole = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // Events, CSV and the like are shown as they are.
  }
  return whole.length <= LONGEST_REPLY ? whole : `${whole.slice(0, LONGEST_REPLY)}\n…`
}
