import { useEffect, useRef, useState } from 'preact/hooks'
import type { Role } from '../../../../../src/identity/tickets.ts'
import type { IssuedTicket } from '../../../../platform/routes/connections-routes.ts'
import type { Query, ReadyFrame, ReplyFrame, ServerFrame } from '../../../../platform/socket/frames.ts'
import { api } from '../../api.ts'
import { Badge, Button, Card, ErrorNote, Field, Select, TextInput } from '../../components/components.ts'
import { shortId } from '../../format.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { type AgentSocket, openAgentSocket } from './agent-socket.ts'
import './connections.css'

type Line =
  | { from: 'you'; text: string }
  | { from: 'agent'; reply: ReplyFrame }
  | { from: 'figures'; title: string; json: string }
  | { from: 'fault'; text: string }

const QUERY_LABELS: Record<Query, string> = {
  wallet_status: 'Wallet status',
  wallet_metadata: 'Agent registration',
  x402_policy: 'Payment policy',
  bridge_status: 'Chains and vault',
}
/** Queries of admins. */
const QUERIES = Object.keys(QUERY_LABELS) as Query[]

/** Chat over the agent socket, on its own connection. @param onChange called when it connects or closes */
export function Chat({ onChange }: { onChange: () => void }) {
  const [user, setUser] = useState('operator')
  const [role, setRole] = useState<Role>(session.value?.isAdmin ? 'admin' : 'user')
  const [sessionId, setSessionId] = useState('')
  const [ready, setReady] = useState<ReadyFrame | null>(null)
  const [connecting, setConnecting] = useState(false)
  const [waiting, setWaiting] = useState(0)
  const [lines, setLines] = useState<Line[]>([])
  const [text, setText] = useState('')
  const [error, setError] = useState<unknown>(null)
  const socket = useRef<AgentSocket | null>(null)
  /** True after the page was left. */
  const gone = useRef(false)
  /** Session of the lines. */
  const joined = useRef('')
  const log = useRef<HTMLOListElement>(null)

  useEffect(
    () => () => {
      gone.current = true
      socket.current?.close()
    },
    [],
  )
  useEffect(() => log.current?.scrollTo(0, log.current.scrollHeight), [lines])

  const say = (line: Line) => setLines((before) => [...before, line])
  const onFrame = (frame: ServerFrame) => {
    if (frame.type === 'ready') {
      if (frame.session_id !== joined.current) setLines([])
      joined.current = frame.session_id
      // Reconnecting continues the same session.
      setSessionId(frame.session_id)
      setReady(frame)
      setConnecting(false)
      onChange()
      return
    }
    setWaiting((n) => Math.max(0, n - 1))
    if (frame.type === 'reply') say({ from: 'agent', reply: frame })
    else if (frame.type === 'error') say({ from: 'fault', text: frame.message })
    else {
      const { type, ...figures } = frame
      say({ from: 'figures', title: QUERY_LABELS[type], json: JSON.stringify(figures, null, 2) })
    }
  }
  const onClose = (why: string) => {
    socket.current = null
    setReady(null)
    setConnecting(false)
    setWaiting(0)
    setError(new Error(why))
    onChange()
  }
  const connect = async () => {
    setConnecting(true)
    setError(null)
    try {
      const { url, ticket } = await api.post<IssuedTicket>('/api/connections', { user, role })
      if (gone.current) return
      socket.current = openAgentSocket({ url, ticket, sessionId: sessionId.trim() || null }, { onFrame, onClose })
    } catch (fault) {
      setError(fault)
      setConnecting(false)
    }
  }
  const send = () => {
    const content = text.trim()
    if (content === '') return
    socket.current?.send({ type: 'chat', content })
    say({ from: 'you', text: content })
    setWaiting((n) => n + 1)
    setText('')
  }
  const ask = (query: Query) => {
    socket.current?.send({ type: query })
    setWaiting((n) => n + 1)
  }

  return (
    <Card
      title="Chat"
      actions={
        ready && (
          <>
            <Badge tone="good">connected as {ready.role}</Badge>
            <Button size="small" onClick={() => socket.current?.close()}>
              Disconnect
            </Button>
          </>
        )
      }
    >
      {!ready && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void connect()
          }}
        >
          <p class="hint">Chat with the agent over the agent socket. A ticket is created and used at once.</p>
          <div class="fields">
            <Field label="Name">
              <TextInput value={user} onInput={setUser} required maxLength={200} />
            </Field>
            <Field label="As">
              <Select value={role} options={session.value?.isAdmin ? ['user', 'admin'] : ['user']} onChange={setRole} />
            </Field>
            <Field label="Session" hint="Optional. Continues a session of this key.">
              <TextInput value={sessionId} onInput={setSessionId} placeholder="new session" maxLength={128} />
            </Field>
          </div>
          <div class="actions">
            <Button type="submit" tone="primary" busy={connecting}>
              Connect
            </Button>
          </div>
        </form>
      )}
      <ErrorNote error={error} />
      {(ready || lines.length > 0) && (
        <>
          {ready && (
            <p class="muted">
              Session <code title={ready.session_id}>{shortId(ready.session_id)}</code>
            </p>
          )}
          <ol class="chat" ref={log} aria-label="Conversation" aria-live="polite" tabIndex={0}>
            {lines.length === 0 && <li class="muted">No messages yet.</li>}
            {lines.map((line, at) => (
              <li key={`${at}`} class={`from-${line.from}`}>
                <ChatLine line={line} />
              </li>
            ))}
            {waiting > 0 && (
              <li class="muted">
                <span class="spinner" aria-hidden="true" /> Waiting for the answer…
              </li>
            )}
          </ol>
        </>
      )}
      {ready && (
        <>
          <form
            class="chat-form"
            onSubmit={(event) => {
              event.preventDefault()
              send()
            }}
          >
            <TextInput value={text} onInput={setText} aria-label="Message" placeholder="Type a message" />
            <Button type="submit" tone="primary" disabled={text.trim() === ''}>
              Send
            </Button>
          </form>
          {ready.role === 'admin' && (
            <fieldset class="queries">
              <legend class="hint">Ask for operator figures</legend>
              {QUERIES.map((query) => (
                <Button key={query} size="small" onClick={() => ask(query)}>
                  {QUERY_LABELS[query]}
                </Button>
              ))}
            </fieldset>
          )}
        </>
      )}
    </Card>
  )
}

function ChatLine({ line }: { line: Line }) {
  if (line.from === 'you')
    return (
      <p>
        <span class="who-said">You</span>
        {line.text}
      </p>
    )
  if (line.from === 'fault') return <p role="alert">{line.text}</p>
  if (line.from === 'figures')
    return (
      <details open>
        <summary>{line.title}</summary>
        <pre role="region" tabIndex={0} aria-label={line.title}>
          {line.json}
        </pre>
      </details>
    )
  const { content, tensor, poa_score, session_id } = line.reply
  return (
    <>
      <p>
        <span class="who-said">Agent</span>
        {content}
      </p>
      <p class="measured">
        <span title="Classification of the exchange and the latest gaze">
          tensor <code>{tensor}</code>
        </span>
        <span title="Attestation score of the session; 0 without gaze">
          poa_score <code>{poa_score}</code>
        </span>
        {poa_score > 0 && <a href={href('attention', { id: session_id })}>Attention</a>}
      </p>
    </>
  )
}
