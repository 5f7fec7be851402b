import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/server'

/** Protocol revisions in which each request names its version and `initialize` does not exist. */
const STATELESS_VERSIONS = ['2026-07-28']

/** Destination of a message: the server, nobody, or an immediate reply to the client. */
export type Admission = 'server' | 'nobody' | { error: ReplyError } | { result: Record<string, never> }

interface ReplyError {
  code: number
  message: string
  data?: object
}

/** Protocol era of one connection. */
export interface Opening {
  admit(message: JSONRPCMessage): Admission
  /** Called for each answer sent. A failed `initialize` may be repeated. */
  answered(id: RequestId, isError: boolean): void
}

/**
 * Keeps a connection to one protocol era. A message of the other era gets an error that says what to do.
 *
 * The SDK lets the first message of any kind decide the era. A ping or a stray notification would then lock out every
 * client of the newer revision. Here only `initialize` and requests that name their version decide.
 */
export function createOpening(): Opening {
  let era: 'undecided' | 'initialized' | 'stateless' = 'undecided'
  let initializing: RequestId | undefined
  let isInitialized = false

  function admit(message: JSONRPCMessage): Admission {
    if (!('method' in message)) return 'server'
    const version = claimedVersion(message)
    const isRequest = 'id' in message
    if (version !== undefined) return isRequest ? admitClaim(message.method, version, message.params) : 'server'
    if (isRequest && message.method === 'initialize') return admitInitialize(message.id)
    if (era === 'stateless' || isInitialized) return 'server'
    if (!isRequest) return 'nobody'
    return message.method === 'ping' ? { result: {} } : refused(SEND_INITIALIZE)
  }

  function admitClaim(method: string, version: unknown, params: Params): Admission {
    if (typeof version === 'string' && !STATELESS_VERSIONS.includes(version)) {
      const message = `Unsupported protocol version: ${version.slice(0, 100)}. Supported: ${STATELESS_VERSIONS.join(', ')}.`
      const data = { supported: STATELESS_VERSIONS, requested: version }
      return { error: { code: ProtocolErrorCode.UnsupportedProtocolVersion, message, data } }
    }
    if (era === 'initialized') return refused(IS_INITIALIZED)
    // A probe does not decide the era, because the client may still initialize.
    if (method !== 'server/discover' && isObject(params?._meta?.[CLIENT_CAPABILITIES_META_KEY])) era = 'stateless'
    return 'server'
  }

  function admitInitialize(id: RequestId): Admission {
    // The SDK's error names the supported versions.
    if (era === 'stateless') return 'server'
    if (isInitialized) return refused('initialize was sent before. Open another connection to initialize again.')
    era = 'initialized'
    isInitialized = true
    initializing = id
    return 'server'
  }

  return {
    admit,
    answered(id, isError) {
      if (id !== initializing) return
      initializing = undefined
      isInitialized = !isError
    },
  }
}

type Params = { _meta?: Record<string, unknown> | undefined } | undefined

const SEND_INITIALIZE = `Send initialize first, or name the protocol version in params._meta["${PROTOCOL_VERSION_META_KEY}"].`
const IS_INITIALIZED = `This connection was opened with initialize: omit params._meta["${PROTOCOL_VERSION_META_KEY}"], or open another connection.`

/** The protocol version that a message names, of any type. Undefined when it names none. */
const claimedVersion = ({ params }: { params?: Params }): unknown => params?._meta?.[PROTOCOL_VERSION_META_KEY]

const refused = (message: string): Admission => ({ error: { code: ProtocolErrorCode.InvalidRequest, message } })

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
