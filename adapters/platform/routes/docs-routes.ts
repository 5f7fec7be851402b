import { createHash } from 'node:crypto'
import type { Hono } from 'hono'
import { html, raw } from 'hono/html'
import type { Frame } from '../../web/frame-context.ts'
import type { GroupedRoute } from '../define-route.ts'
import { describePlatform } from '../description.ts'
import type { OpenApi, Operation, Parameter } from '../openapi.ts'

const STYLE = `
:root { color-scheme: light dark; background: Canvas; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; }
details { border: 1px solid #8886; border-radius: .4rem; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; }
summary code { font-weight: 600; }
pre { overflow: auto; background: #8882; padding: .8rem; border-radius: .4rem; }
table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; }
`
/** The page has no script and loads nothing. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serves `GET /openapi.json` and `GET /docs`: routes described for programs and for people. They are described on the
 * first request, because that takes an eighth of a start.
 */
export function docsRoutes(app: Hono<Frame>, routes: readonly GroupedRoute[]): void {
  let known: Promise<OpenApi> | undefined
  let page: string | undefined
  function document(): Promise<OpenApi> {
    known ??= describePlatform(routes)
    return known
  }
  app.get('/openapi.json', async (c) => c.json(await document()))
  app.get('/docs', async (c) => {
    page ??= String(reference(await document()))
    return c.html(page, 200, {
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
  })
}

function reference({ info, paths }: OpenApi) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))]
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${info.title}</title>
<style>${raw(STYLE)}</style></head>
<body>
<h1>${info.title} ${info.version}</h1>
<p>${info.description} The same for programs: <a href="/openapi.json">/openapi.json</a>.</p>
<p>Send a key as <code>Authorization: Bearer gzw_…</code>. Every error is
<code>{"error": {"code", "message", "type", "param", "request_id"}}</code>; its message says what to do.</p>
${tags.map(
  (tag) => html`<h2>${tag}</h2>
${operations.filter(({ operation }) => operation.tags.includes(tag)).map(section)}`,
)}
</body></html>`
}

function section({ path, method, operation }: { path: string; method: string; operation: Operation }) {
  const body = operation.requestBody?.content['application/json']?.schema
  const replies = Object.entries(operation.responses).filter(([status]) => status !== 'default' && status !== '204')
  return html`<details><summary><code>${method} ${path}</code> ${operation.summary}</summary>
<p>${operation.description}</p>
${operation.parameters.length > 0 ? parameters(operation.parameters) : ''}
${body ? html`<h3>Body</h3>${code(body)}` : ''}
${replies.map(([status, reply]) => html`<h3>Reply ${status}</h3>${code((reply as { content: unknown }).content)}`)}
</details>
`
}

const parameters = (of: readonly Parameter[]) => html`<h3>Parameters</h3><table>
<tr><th>Name</th><th>In</th><th>Accepted</th><th></th></tr>
${of.map(
  ({ name, in: place, required, schema, description }) => html`<tr><td><code>${name}</code></td>
<td>${place}${required ? ', required' : ''}</td><td><code>${JSON.stringify(schema)}</code></td><td>${description}</td></tr>
`,
)}</table>`

const code = (value: unknown) => html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`
