import { once } from 'node:events'
import { WebSocket } from 'ws'
import { ask, type RunningPlatform } from './platform.ts'

/** A frame from the server. */
export type Frame = Record<string, unknown> & { type: string }

/** A client of the agent socket. */
export interface SocketClient {
  ws: WebSocket
  /** Sends JSON, or text as it is. */
  send(frame: object | string): void
  /** The next frame that comes in. @throws Error when the socket closes first */
  next(): Promise<Frame>
  /** Resolves when the socket is closed. */
  closed: Promise<{ code: number; reason: string }>
}

/** Opens a socket; it has yet to be admitted. @throws Error when the upgrade is refused */
export async function openSocket(
  url: string,
  { protocols = [], headers = {}, path = '/agent' }: { protocols?: string[]; headers?: object; path?: string } = {},
): Promise<SocketClient> {
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, protocols, { headers: { ...headers } })
  const frames: Frame[] = []
  const waiting: { resolve: (frame: Frame) => void; reject: (error: Error) => void }[] = []
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.once('close', (code, reason) => {
      for (const { reject } of waiting) reject(new Error(`The socket closed: ${code} ${reason}`))
      resolve({ code, reason: String(reason) })
    })
  })
  ws.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Frame
    const first = waiting.shift()
    if (first) first.resolve(frame)
    else frames.push(frame)
  })
  await once(ws, 'open')
  ws.on('error', () => {})
  return {
    ws,
    send: (frame) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next() {
      const frame = frames.shift()
      if (frame) return frame
      if (ws.readyState === WebSocket.CLOSED) throw new Error('The socket is closed.')
      return new Promise((resolve, reject) => void waiting.push({ resolve, reject }))
    },
    closed,
  }
}

/** A client that is admitted. */
export interface Welcomed extends SocketClient {
  /** The first frame, `ready`. */
  ready: Frame
}

/** A socket that is admitted by a key. */
export async function connectWithKey(
  platform: Pick<RunningPlatform, 'url'>,
  key: string,
  path = '/agent',
): Promise<Welcomed> {
  const client = await openSocket(platform.url, { headers: { authorization: `Bearer ${key}` }, path })
  return Object.assign(client, { ready: await client.next() })
}

/** A ticket for one connection. */
export async function ticketOf(
  platform: RunningPlatform,
  { key = platform.key, user = 'ada', role = 'user' } = {},
): Promise<{ id: string; url: string; ticket: string; expires_at: string }> {
  const reply = await ask(platform, 'POST', '/api/connections', { key, body: { user, role } })
  if (reply.status !== 201) throw new Error(await reply.text())
  return (await reply.json()) as Awaited<ReturnType<typeof ticketOf>>
}

/** Reads the server's refusal of an upgrade. */
export async function refusalOf(
  url: string,
  options: { headers?: object; path?: string } = {},
): Promise<{ status: number; body: string }> {
  const { headers = {}, path = '/agent' } = options
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, { headers: { ...headers } })
  ws.on('error', () => {})
  const [, reply] = await once(ws, 'unexpected-response')
  let body = ''
  for await (const chunk of reply) body += chunk
  return { status: reply.statusCode, body }
}
