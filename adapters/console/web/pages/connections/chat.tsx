import { useEffect, useRef, useState } from 'preact/hooks'
import type { Role } from '../../../../../src/identity/tickets.ts'
import type { Query, ReadyFrame, ReplyFrame, ServerFrame } from '../../../../platform/socket/frame-schemas.ts'
import { api } from '../../api.ts'
import { Badge, Card, ErrorNote, Verbatim } from '../../components/content.ts'
import { Button, Form, FormFields, Primary, TextInput } from '../../components/forms.ts'
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
  const chat = useChat(onChange)
  const [text, setText] = useState('')
  const { ready, lines } = chat
  return (
    <Card
      title="Chat"
      actions={
        ready && (
          <>
            <Badge tone="good">connected as {ready.role}</Badge>
            <Button size="small" onClick={chat.close} children="Disconnect" />
          </>
        )
      }
    >
      {!ready && <ConnectForm chat={chat} />}
      <ErrorNote error={chat.error} />
      {ready && (
        <p class="muted">
          Session <code title={ready.session_id}>{shortId(ready.session_id)}</code>
        </p>
      )}
      {(ready || lines.length > 0) && <ChatLog lines={lines} isWaiting={chat.waiting > 0} />}
      {ready && <MessageForm text={text} onType={setText} onSay={chat.say} />}
      {ready?.role === 'admin' && (
        <fieldset class="queries">
          <legend class="hint">Ask for operator figures</legend>
          {QUERIES.map((query) => (
            <Button key={query} size="small" onClick={() => chat.ask(query)} children={QUERY_LABELS[query]} />
          ))}
        </fieldset>
      )}
    </Card>
  )
}

/** Terms of a connection. An empty session begins a new one. */
interface Terms {
  user: string
  role: Role
  sessionId: string
}

/** State of a connection: its first frame once it is open, and the number of messages that wait for an answer. */
interface Link {
  ready: ReadyFrame | null
  connecting: boolean
  waiting: number
}

const CLOSED: Link = { ready: null, connecting: false, waiting: 0 }

type ChatState = ReturnType<typeof useChat>

/** Connection of a chat with its lines. */
function useChat(onChange: () => void) {
  const [terms, setTerms] = useState<Terms>({
    user: 'operator',
    role: session.value?.isAdmin ? 'admin' : 'user',
    sessionId: '',
  })
  const [link, setLink] = useState(CLOSED)
  const [lines, setLines] = useState<Line[]>([])
  const [error, setError] = useState<unknown>(null)
  const socket = useRef<AgentSocket | null>(null)
  /** True after the page was left. */
  const gone = useRef(false)
  /** Session of the lines. */
  const joined = useRef('')

  useEffect(
    () => () => {
      gone.current = true
      socket.current?.close()
    },
    [],
  )

  const edit = (change: Partial<Terms>) => setTerms((before) => ({ ...before, ...change }))
  const add = (line: Line) => setLines((before) => [...before, line])
  const wait = (more: number) => setLink((was) => ({ ...was, waiting: Math.max(0, was.waiting + more) }))
  const send = (frame: Parameters<AgentSocket['send']>[0]) => {
    socket.current?.send(frame)
    wait(1)
  }
  const onReady = (frame: ReadyFrame) => {
    if (frame.session_id !== joined.current) setLines([])
    joined.current = frame.session_id
    // Reconnecting continues the same session.
    edit({ sessionId: frame.session_id })
    setLink({ ...CLOSED, ready: frame })
    onChange()
  }
  const onFrame = (frame: ServerFrame) => {
    if (frame.type === 'ready') return onReady(frame)
    wait(-1)
    add(lineOf(frame))
  }
  const onClose = (why: string) => {
    socket.current = null
    setLink(CLOSED)
    setError(new Error(why))
    onChange()
  }
  const connect = async () => {
    const { user, role, sessionId } = terms
    setLink({ ...CLOSED, connecting: true })
    setError(null)
    try {
      const { url, ticket } = await api.post('/api/connections', { user, role })
      if (gone.current) return
      socket.current = openAgentSocket({ url, ticket, sessionId: sessionId.trim() || null }, { onFrame, onClose })
    } catch (fault) {
      setError(fault)
      setLink(CLOSED)
    }
  }
  const say = (content: string) => {
    send({ type: 'chat', content })
    add({ from: 'you', text: content })
  }
  const ask = (query: Query) => send({ type: query })
  const close = () => socket.current?.close()
  return { ...link, terms, edit, lines, error, connect, say, ask, close }
}

function lineOf(frame: Exclude<ServerFrame, ReadyFrame>): Line {
  if (frame.type === 'reply') return { from: 'agent', reply: frame }
  if (frame.type === 'error') return { from: 'fault', text: frame.message }
  const { type, ...figures } = frame
  return { from: 'figures', title: QUERY_LABELS[type], json: JSON.stringify(figures, null, 2) }
}

function ConnectForm({ chat: { terms, edit, connecting, connect } }: { chat: ChatState }) {
  const roles = session.value?.isAdmin ? ['user', 'admin'] : ['user']
  const sessionHint = 'Optional. Continues a session of this key.'
  return (
    <Form onSubmit={connect}>
      <p class="hint">Chat with the agent over the agent socket. A ticket is created and used at once.</p>
      <div class="fields">
        <FormFields
          draft={terms}
          edit={edit}
          fields={[
            { name: 'user', label: 'Name', required: true, maxLength: 200 },
            { name: 'role', label: 'As', options: roles },
            { name: 'sessionId', label: 'Session', hint: sessionHint, placeholder: 'new session', maxLength: 128 },
          ]}
        />
      </div>
      <div class="actions">
        <Primary busy={connecting}>Connect</Primary>
      </div>
    </Form>
  )
}

function ChatLog({ lines, isWaiting }: { lines: readonly Line[]; isWaiting: boolean }) {
  const log = useRef<HTMLOListElement>(null)
  useEffect(() => log.current?.scrollTo(0, log.current.scrollHeight), [lines])
  return (
    <ol class="chat" ref={log} aria-label="Conversation" aria-live="polite" tabIndex={0}>
      {lines.length === 0 && <li class="muted">No messages yet.</li>}
      {lines.map((line, at) => (
        <li key={`${at}`} class={`from-${line.from}`}>
          <ChatLine line={line} />
        </li>
      ))}
      {isWaiting && (
        <li class="muted">
          <span class="spinner" aria-hidden="true" /> Waiting for the answer…
        </li>
      )}
    </ol>
  )
}

function MessageForm(props: { text: string; onType: (text: string) => void; onSay: (content: string) => void }) {
  const { text, onType, onSay } = props
  const content = text.trim()
  const say = () => {
    if (content === '') return
    onSay(content)
    onType('')
  }
  return (
    <Form class="chat-form" onSubmit={say}>
      <TextInput value={text} onInput={onType} aria-label="Message" placeholder="Type a message" />
      <Primary disabled={content === ''}>Send</Primary>
    </Form>
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
        <Verbatim label={line.title} text={line.json} />
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
