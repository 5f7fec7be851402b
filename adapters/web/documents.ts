import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { Hono } from 'hono'
import { GazewayError } from '../../src/errors.ts'
import type { Frame } from './frame-context.ts'
import { wantsHtml } from './wants-html.ts'

const decompress = promisify(brotliDecompress)

const LLMS = '/llms.txt'
const DOCUMENTS = '/docs/'
/** The folder of the documents in the sources. */
const SOURCES = new URL('../../docs/', import.meta.url)
/** The documents in the package, as JSON: `scripts/build.ts`. */
const PACKED = new URL('../docs.json.br', import.meta.url)
/** Folders of the documents, in the order of the list, by their headings there. */
const SECTIONS: Readonly<Record<string, string>> = { guides: 'Guides', reference: 'Reference', '': 'Further' }

/** Text of each document by its path: `reference/http.md`. */
type Documents = ReadonlyMap<string, string>

/** Tells whether a path is a document's or the list's. They need no key, as they are the same for everyone. */
export const isDocument = (path: string): boolean =>
  path === LLMS || (path.startsWith(DOCUMENTS) && path.endsWith('.md'))

/**
 * Serves the documentation of this version to agents: `GET /llms.txt`, a list in the form of https://llmstxt.org, and
 * each document as Markdown, `GET /docs/reference/http.md`. Browsers get the Markdown as plain text.
 */
export function documentRoutes(app: Hono<Frame>, { isPlatform }: { isPlatform: boolean }): void {
  let reading: Promise<Documents> | undefined
  const documents = () => {
    reading ??= readDocuments().catch((cause) => {
      reading = undefined
      throw new GazewayError('not_found', 'The documents of this copy are gone.', { cause })
    })
    return reading
  }

  app.get(LLMS, async (c) => {
    const list = listOf(await documents(), isPlatform)
    return c.body(list, 200, headersFor('text/markdown'))
  })
  app.get(`${DOCUMENTS}:path{.+\\.md}`, async (c) => {
    const text = (await documents()).get(c.req.param('path'))
    if (text === undefined) throw new GazewayError('not_found', `There is no such document; ${LLMS} lists all.`)
    return c.body(text, 200, headersFor(wantsHtml(c.req.header('accept')) ? 'text/plain' : 'text/markdown'))
  })
}

const headersFor = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'x-content-type-options': 'nosniff',
  vary: 'accept',
})

async function readDocuments(): Promise<Documents> {
  if (!import.meta.url.endsWith('.ts'))
    return new Map(Object.entries(JSON.parse(String(await decompress(await readFile(PACKED))))))
  return documentsIn(SOURCES)
}

/** Reads the documents of a folder, sorted by path. */
export async function documentsIn(folder: URL): Promise<Documents> {
  const names = await readdir(folder, { recursive: true })
  const paths = names.map((name) => name.replaceAll('\\', '/')).filter((name) => name.endsWith('.md'))
  const read = async (path: string) => [path, await readFile(new URL(path, folder), 'utf8')] as const
  return new Map(await Promise.all(paths.sort().map(read)))
}

function listOf(documents: Documents, isPlatform: boolean): string {
  const sections = Object.entries(SECTIONS).map(([folder, heading]) => {
    const inside = [...documents].filter(([path]) => path.split('/').slice(0, -1).join('/') === folder)
    return `## ${heading}\n\n${inside.map(([path, text]) => `- [${titleOf(text)}](${DOCUMENTS}${path})`).join('\n')}\n`
  })
  const api = isPlatform
    ? '- [Reference of the API for people](/docs)\n- [OpenAPI document](/openapi.json): no key needed'
    : '- [Endpoints, with examples](/docs/reference/http.md)\n- [OpenAPI document](/openapi.json): needs a key'
  return `# Gazeway

> Self-hosted agent gateway: a second model, a shared memory and a gaze-aware work context for every coding assistant,
> over MCP and HTTP. This is its ${isPlatform ? 'platform' : 'model gateway'}. Send a key as \`Authorization: Bearer gzw_…\`.

## API

${api}

${sections.join('\n')}`
}

/** Finds the first heading of a document. */
const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? 'Untitled'
