import type { Hono } from 'hono'
import { CODES, ERROR_PAGES, type ErrorCode, GazewayError } from '../../src/errors.ts'
import { lazily } from '../../src/lazily.ts'
import type { Frame } from './frame-context.ts'
import { wantsHtml } from './wants-html.ts'

const loadGuidance = lazily(() => import('./error-guidance.ts'))
const loadPages = lazily(() => import('./html-page.ts'))

const HEADERS = {
  'content-type': 'text/markdown; charset=utf-8',
  'x-content-type-options': 'nosniff',
  vary: 'accept',
}

/** Tells whether a path is a page of {@link errorPages}. These pages need no key. */
export const isErrorPage = (path: string): boolean => path.startsWith(ERROR_PAGES)

/**
 * Serves `GET /docs/errors/CODE`, which explains an error code: as a page to browsers, else in Markdown. The gateway serves
 * the pages itself. The link in an error therefore fits the version that answered, and works without access to the
 * internet.
 */
export function errorPages(app: Hono<Frame>): void {
  app.get(`${ERROR_PAGES}:code`, async (c) => {
    const code = c.req.param('code')
    if (!isCode(code))
      throw new GazewayError('not_found', 'There is no such error code; docs/reference/errors.md has all.')
    if (wantsHtml(c.req.header('accept'))) {
      const { codeAsPage } = await loadPages()
      const { headers, body } = codeAsPage(code)
      return c.body(body, 200, headers)
    }
    const { GUIDANCE } = await loadGuidance()
    const { happened, todo } = GUIDANCE[code]
    const page = `# ${code} (HTTP ${CODES[code].status})\n\n## What happened\n\n${happened}\n\n## What to do\n\n${todo}\n`
    return c.body(page, 200, HEADERS)
  })
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(CODES, code)
