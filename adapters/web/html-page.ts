import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { html, raw } from 'hono/html'
import { CODES, ERROR_PAGES, type ErrorCode, type GazewayError } from '../../src/errors.ts'
import { GUIDANCE } from './error-guidance.ts'

/** A page of HTML with its headers. */
export interface HtmlPage {
  headers: Record<string, string>
  body: string
}

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#171b22, #e9ecf1); --muted: light-dark(#596373, #98a1af);
  --accent: light-dark(#1f5fbf, #7fb0ff); --well: light-dark(#f4f6f8, #191d25); --line: light-dark(#e5e8ed, #242933);
  background: light-dark(#fafbfc, #0d0f13); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 12vh auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 28px; line-height: 1.25; } h2 { font-size: 16px; margin: 1.5rem 0 0; } p { margin: .25rem 0 0; }
a { color: var(--accent); } .muted { color: var(--muted); font-size: 14px; margin-top: 2rem; }
code { font: 14px ui-monospace, monospace; background: var(--well); border: 1px solid var(--line); border-radius: 4px;
  padding: 0 4px; }
`
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept',
}

/** Shows an error to a person who opened an address in a browser. */
export function errorAsPage(error: GazewayError, requestId: string | null): HtmlPage {
  const heading = `${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`
  return page(
    heading,
    html`<p>${error.message}</p>
<h2>What to do</h2>
${prose(GUIDANCE[error.code].todo)}
<p class="muted"><a href="${ERROR_PAGES}${error.code}"><code>${error.code}</code></a>${requestId && html` · request <code>${requestId}</code>`}</p>`,
  )
}

/** Explains an error code to a person. */
export function codeAsPage(code: ErrorCode): HtmlPage {
  const { happened, todo } = GUIDANCE[code]
  return page(
    code,
    html`<p>HTTP ${CODES[code].status}</p>
<h2>What happened</h2>
${prose(happened)}
<h2>What to do</h2>
${prose(todo)}`,
  )
}

function page(title: string, content: unknown): HtmlPage {
  const body = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Gazeway</title>
<style>${raw(STYLE)}</style></head>
<body><main><h1>${title}</h1>
${content}
</main></body></html>
`
  return { headers: HEADERS, body: String(body) }
}

/** Shows a paragraph of Markdown: its code, and links to the documents that it names. */
const prose = (text: string) => html`<p>${text.split(/(`[^`]+`|docs\/[\w/-]+\.md)/).map(part)}</p>`

function part(text: string) {
  if (text.startsWith('`')) return html`<code>${text.slice(1, -1)}</code>`
  return text.startsWith('docs/') && text.endsWith('.md') ? html`<a href="/${text}">${text}</a>` : text
}
