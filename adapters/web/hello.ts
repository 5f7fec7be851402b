import type { Hono } from 'hono'
import type { Frame, FrameContext } from './frame-context.ts'

const HELLO = '/api/hello'

/**
 * Tells whether a request only asks whether somebody is there, as Claude Code does at its base URL.
 * It needs no key.
 */
export const isHello = ({ req: { path, method } }: FrameContext): boolean =>
  path === HELLO || (path === '/' && method === 'HEAD')

/** Registers `GET /api/hello` and the root, where nothing else is: 200 while the process answers at all. */
export function hello(app: Hono<Frame>, { root }: { root: boolean }): void {
  for (const path of root ? [HELLO, '/'] : [HELLO]) app.get(path, (c) => c.json({ message: 'hello' }))
}
