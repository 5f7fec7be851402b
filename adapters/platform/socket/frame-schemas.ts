import * as z from 'zod'
import type { AgentReply } from '../../../src/agent/agent.ts'
import { GazewayError } from '../../../src/errors.ts'
import { type Role, Ticket } from '../../../src/identity/tickets.ts'
import { MessageText, SessionId } from '../../../src/sessions/session.ts'
import { isWhole, WHOLE } from '../../../src/store/storable-text.ts'
import { parseJson } from '../../../src/text/json.ts'
import { parseInput } from '../../../src/wire/validation.ts'

/** Id of a client's frame, repeated in its answers. */
const FrameId = z
  .union([z.string().min(1).max(128), z.int()])
  .optional()
  .meta({ accepted: 'text of 1 to 128 characters, or a whole number' })

/** First frame of a client that did not authenticate with the upgrade request. */
const AuthFrame = z.strictObject({
  type: z.literal('auth'),
  ticket: Ticket,
  session_id: SessionId.optional(),
  id: FrameId,
})
export type AuthFrame = z.infer<typeof AuthFrame>

const ChatFrame = z.strictObject({
  type: z.literal('chat'),
  user: z
    .string()
    .regex(/^\P{Cc}{1,200}$/u)
    .refine(isWhole, WHOLE)
    .optional()
    .meta({ accepted: 'text of 1 to 200 characters on one line' }),
  content: MessageText,
  id: FrameId,
})

/** Figures of the operator that an admin may request. */
const QUERIES = ['wallet_status', 'wallet_metadata', 'x402_policy', 'bridge_status'] as const
export type Query = (typeof QUERIES)[number]

const QueryFrame = z.strictObject({ type: z.enum(QUERIES), id: FrameId })

/** A request of a client on an open connection. */
export type ClientFrame = z.infer<typeof ChatFrame> | z.infer<typeof QueryFrame>

/** Id of the client frame that is answered. */
interface Named {
  id?: NonNullable<ClientFrame['id']>
}

/** The answer to a chat. */
export interface ReplyFrame
  extends Named,
    Pick<AgentReply, 'content' | 'tensor' | 'poa_score' | 'session_id' | 'message_id'> {
  type: 'reply'
}

/** The answer to a query. */
export interface FiguresFrame extends Named {
  type: Query
  [figure: string]: unknown
}

/** First frame of an authenticated connection. */
export interface ReadyFrame extends Named {
  type: 'ready'
  connection_id: string
  session_id: string
  role: Role
}

/** Reason why a frame was not answered. */
export interface ErrorFrame extends Named, Pick<GazewayError, 'code' | 'message' | 'param'> {
  type: 'error'
  retry_after_seconds?: number
}

/** A frame of the server. */
export type ServerFrame = ReplyFrame | FiguresFrame | ReadyFrame | ErrorFrame

/** A parsed frame before validation. */
interface Loose {
  type: unknown
  /** Id of the frame, if it is valid. */
  id: string | number | undefined
  /** Undefined when the frame is not JSON. */
  value: unknown
}

/** Reads the JSON of a text frame. */
export function readFrame(text: string): Loose {
  const value = parseJson(text)
  const id = FrameId.safeParse(field(value, 'id'))
  return { type: field(value, 'type'), id: id.success ? id.data : undefined, value }
}

/** @throws GazewayError `invalid_json`, `validation_failed` */
export function checkAuth({ value }: Loose): AuthFrame {
  if (value === undefined) throw notJson()
  return parseInput(AuthFrame, value)
}

/** @throws GazewayError `invalid_json`, `validation_failed` */
export function checkFrame({ type, value }: Loose): ClientFrame {
  if (value === undefined) throw notJson()
  if (typeof type !== 'string')
    throw new GazewayError(
      'validation_failed',
      `type: missing; a frame is an object whose type must be one of ${KINDS}.`,
      {
        param: 'type',
      },
    )
  if (type === 'chat') return parseInput(ChatFrame, value)
  if (isQuery(type)) return parseInput(QueryFrame, value)
  if (type === 'auth')
    throw new GazewayError('validation_failed', 'This connection is already authenticated. Omit the auth frame.', {
      param: 'type',
    })
  throw new GazewayError('validation_failed', `type: unknown frame; must be one of ${KINDS}.`, { param: 'type' })
}

const KINDS = ['chat', ...QUERIES].join(', ')

const isQuery = (type: string): type is Query => (QUERIES as readonly string[]).includes(type)

const notJson = () => new GazewayError('invalid_json', 'The frame is not valid JSON.')

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}
