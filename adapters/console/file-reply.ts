import { parseAccept } from 'hono/utils/accept'
import { GazewayError } from '../../src/errors.ts'
import type { FrameContext } from '../web/frame-context.ts'
import type { ConsoleFile } from './files.ts'

/** Names of files that Vite names by their content. The files of the webcam's library keep their own names. */
const NAMED_BY_CONTENT = /-[\w-]{8}\.(js|css|svg|wasm)$/

/**
 * Answers with a file of the built console.
 *
 * @param more headers of a page
 * @throws GazewayError `not_found`
 */
export async function fileReply(
  c: FrameContext,
  files: ReadonlyMap<string, ConsoleFile>,
  path: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const nothing = () => new GazewayError('not_found', `There is nothing at ${path.slice(0, 200)}.`)
  const file = files.get(path)
  if (!file) throw nothing()
  const held = c.req.header('if-none-match')
  const headersWith = (etag: string) => ({ ...headersOf(file, path), etag, ...more })
  const known = held === undefined ? null : await file.knownEtag()
  if (known !== null && held?.includes(known)) return c.body(null, 304, headersWith(known))
  const content = await file.read()
  if (content === null) throw nothing()
  const headers = headersWith(content.etag)
  if (held?.includes(content.etag)) return c.body(null, 304, headers)
  if (file.gzipped === null || !acceptsGzip(c)) return c.body(new Uint8Array(content.bytes), 200, headers)
  return c.body(new Uint8Array(await file.gzipped()), 200, { ...headers, 'content-encoding': 'gzip' })
}

function headersOf({ type, gzipped }: ConsoleFile, path: string): Record<string, string> {
  return {
    'content-type': type,
    'cache-control': NAMED_BY_CONTENT.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-content-type-options': 'nosniff',
    ...(gzipped && { vary: 'accept-encoding' }),
  }
}

const acceptsGzip = (c: FrameContext): boolean =>
  parseAccept(c.req.header('accept-encoding') ?? '').some(({ type, q }) => type.toLowerCase() === 'gzip' && q > 0)
