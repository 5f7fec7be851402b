import type { Hono } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Frame, FrameContext } from '../web/frame-context.ts'
import { reachedAt } from '../web/reached-address.ts'
import { fileReply } from './file-reply.ts'
import { type ConsoleFile, consoleFiles, consoleFolder, webcamFiles } from './files.ts'

/** Path of the console's scripts, styles and models. */
const ASSETS = '/assets/'

/** Tells whether a path is a file of the console. Files need no key, as they contain no data. */
export const isConsolePath = (path: string): boolean => path === '/' || path.startsWith(ASSETS)

/**
 * Serves `GET /`, `GET /docs` and `GET /assets/*`: the built operator console, the reference of the API, and the webcam's
 * library if it is installed.
 *
 * @param folder folder of the build; null for none. By default it is beside this program
 */
export function consoleRoutes(
  app: Hono<Frame>,
  folder: string | null = consoleFolder(),
  ofWebcam: ReadonlyMap<string, ConsoleFile> = webcamFiles(),
): void {
  const files = folder === null ? null : new Map([...consoleFiles(folder), ...ofWebcam])

  const answer = async (c: FrameContext, path: string, more: readonly string[] = []) => {
    if (files === null) {
      throw new GazewayError('not_found', 'The console was not built into this copy. Build it with: npm run build.')
    }
    return fileReply(c, files, path, path.endsWith('.html') ? pageHeaders(c, more) : {})
  }

  app.get('/', (c) => answer(c, '/index.html'))
  app.get('/docs', (c) => answer(c, '/docs.html', NO_MARKUP))
  app.get(`${ASSETS}*`, (c) => answer(c, c.req.path))
}

/** Further policy of a page that makes no markup from text. */
const NO_MARKUP = ["require-trusted-types-for 'script'", "trusted-types 'none'"]

/** Content security policy of a page: only resources of this server. */
function pageHeaders(c: FrameContext, more: readonly string[]): Record<string, string> {
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
      ...more,
    ].join('; '),
    'referrer-policy': 'no-referrer',
    'permissions-policy': 'camera=(self), microphone=(), geolocation=()',
    'cross-origin-opener-policy': 'same-origin',
  }
}
