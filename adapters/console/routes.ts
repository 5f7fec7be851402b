import type { Hono } from 'hono'
import { parseAccept } from 'hono/utils/accept'
import { GazewayError } from '../../src/errors.ts'
import type { Frame, FrameContext } from '../web/frame-context.ts'
import { reachedAt } from '../web/reached-at.ts'
import { type ConsoleFile, consoleFiles, consoleFolder, webcamFiles } from './files.ts'

/** Path of the console's scripts, styles and models. */
const ASSETS = '/assets/'
/** Names of files that Vite names by their content. The files of the webcam's library keep their own names. */
const NAMED_BY_CONTENT = /-[\w-]{8}\.(js|css|svg|wasm)$/

/** Tells whether a path is a file of the console. Files need no key, as they contain no data. */
export const isConsolePath = (path: string): boolean => path === '/' || path.startsWith(ASSETS)

/**
 * Serves `GET /` and `GET /assets/*`: the built operator console, and the webcam's library if it is installed.
 *
 * @param folder folder of the build; null for none. By default it is beside this program
 */
export function consoleRoutes(
  app: Hono<Frame>,
  folder: string | null = consoleFolder(),
  ofWebcam: ReadonlyMap<string, ConsoleFile> = webcamFiles(),
): void {
  const files = folder === null ? null : new Map([...consoleFiles(folder), ...ofWebcam])

  const answer = async (c: FrameContext, path: string) => {
    if (files === null) {
      throw new GazewayError('not_found', 'The console was not built into this copy. Build it with: npm run build.')
    }
    const nothing = () => new GazewayError('not_found', `There is nothing at ${path.slice(0, 200)}.`)
    const file = files.get(path)
    if (!file) throw nothing()
    const headers = { ...headersOf(file, path), ...(path.endsWith('.html') && pageHeaders(c)) }
    if (c.req.header('if-none-match')?.includes(file.etag)) return c.body(null, 304, headers)
    if (file.gzipped === null || !acceptsGzip(c)) {
      const content = await file.read()
      if (content === null) throw nothing()
      return c.body(new Uint8Array(content), 200, headers)
    }
    return c.body(new Uint8Array(await file.gzipped()), 200, { ...headers, 'content-encoding': 'gzip' })
  }

  app.get('/', (c) => answer(c, '/index.html'))
  app.get(`${ASSETS}*`, (c) => answer(c, c.req.path))
}

function headersOf({ type, etag, gzipped }: ConsoleFile, path: string): Record<string, string> {
  return {
    'content-type': type,
    etag,
    'cache-control': NAMED_BY_CONTENT.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(gzipped && { vary: 'accept-encoding' }),
  }
}

/** Content security policy of the page: only resources of this server. */
function pageHeaders(c: FrameContext): Record<string, string> {
  const socket = reachedAt(c.env.incoming.headers).replace(/^http/, 'ws')
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      'media-src blob: mediastream:',
      `connect-src 'self' ${socket}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(self), microphone=(), geolocation=()',
    'cross-origin-opener-policy': 'same-origin',
  }
}

const acceptsGzip = (c: FrameContext): boolean =>
  parseAccept(c.req.header('accept-encoding') ?? '').some(({ type, q }) => type.toLowerCase() === 'gzip' && q > 0)
