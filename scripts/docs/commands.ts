import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A page, or a folder of pages that ends in `/`, whose commands a test runs: all of them, or those under `headings`. */
export interface Tested {
  page: string
  headings?: readonly string[]
  test: string
}

/** Add a page of commands here together with the test that runs them. */
const TESTED: readonly Tested[] = [
  { page: 'README.md', test: 'test/docs/readme.test.ts' },
  { page: 'docs/guides/', test: 'test/docs/guides.long.ts' },
  { page: 'docs/reference/assistants.md', test: 'test/docs/readme.test.ts' },
  { page: 'docs/reference/clients.md', headings: ['Claude Code', 'Gemini CLI'], test: 'test/docs/clients.test.ts' },
  {
    page: 'docs/reference/clients.md',
    headings: ['Azure OpenAI', 'Amazon Bedrock', 'Vertex AI'],
    test: 'test/docs/clients-of-clouds.long.ts',
  },
  { page: 'docs/reference/coding-sessions.md', test: 'test/e2e/session.test.ts' },
  { page: 'docs/reference/connect.md', test: 'test/e2e/connect.test.ts' },
  { page: 'docs/reference/http.md', test: 'test/docs/http.test.ts' },
  { page: 'docs/reference/keys.md', test: 'test/e2e/key.test.ts' },
  { page: 'docs/reference/memory.md', test: 'test/docs/walkthroughs.test.ts' },
  { page: 'docs/reference/reviews.md', test: 'test/e2e/review.test.ts' },
  { page: 'docs/reference/sessions.md', test: 'test/docs/walkthroughs.test.ts' },
  { page: 'docs/reference/socket.md', test: 'test/docs/walkthroughs.test.ts' },
  { page: 'docs/reference/troubleshooting.md', test: 'test/docs/readme.test.ts' },
]

/** Number of command blocks that are marked as not run. A new one changes this number, so that a reviewer sees it. */
const NOT_RUN = 6

/** `<!-- not run: a reason -->` above a block that no test can run. */
const REASON = /^<!-- not run: (\S.*) -->$/
const COMMANDS = /^\s*```(?:sh|bash|shell|console)$/

/**
 * Finds blocks of commands that no test runs and that give no reason, and entries of {@link TESTED} that are not so.
 *
 * @param root the folder that `pages` start at
 * @returns one sentence for each fault
 */
export function untestedCommands(
  root: string,
  pages: readonly string[],
  { tested, notRun }: { tested: readonly Tested[]; notRun: number } = { tested: TESTED, notRun: NOT_RUN },
): string[] {
  const blocks = pages.flatMap((page) => commandBlocks(page, readFileSync(join(root, page), 'utf8')))
  const isRun = ({ page, heading }: CommandBlock) =>
    tested.some((one) => covers(one, page) && (!one.headings || one.headings.includes(heading)))
  const reasons = blocks.filter(({ reason }) => reason !== null)
  return [
    ...tested.flatMap(({ page, test }) => testFaults(root, page, test)),
    ...blocks
      .filter((block) => block.reason === null && !isRun(block))
      .map(({ page, line }) => `${page}:${line}: no test runs these commands: name one in scripts/docs/commands.ts.`),
    ...(reasons.length === notRun
      ? []
      : [`${reasons.length} blocks of commands are marked as not run, ${notRun} in scripts/docs/commands.ts.`]),
  ]
}

function covers({ page }: Tested, file: string): boolean {
  return page === file || (page.endsWith('/') && file.startsWith(page))
}

/** The page has to exist, and so has the test, which opens the page by its path or by its name. */
function testFaults(root: string, page: string, test: string): string[] {
  if (!existsSync(join(root, page))) return [`${page} does not exist: take it out of scripts/docs/commands.ts.`]
  if (!existsSync(join(root, test))) return [`${test} does not exist, and cannot run the commands of ${page}.`]
  const names = [page.replace(/\/$/, ''), `page('${basename(page, '.md')}')`]
  const text = readFileSync(join(root, test), 'utf8')
  return names.some((name) => text.includes(name)) ? [] : [`${test} does not name ${page}.`]
}

interface CommandBlock {
  page: string
  line: number
  /** The nearest heading of the second level. */
  heading: string
  reason: string | null
}

function commandBlocks(page: string, text: string): CommandBlock[] {
  const lines = text.split('\n')
  let heading = ''
  return lines.flatMap((line, i) => {
    heading = /^## (.+)$/.exec(line)?.[1] ?? heading
    if (!COMMANDS.test(line)) return []
    const above = lines.slice(0, i).findLast((one) => one.trim() !== '') ?? ''
    return [{ page, line: i + 1, heading, reason: REASON.exec(above)?.[1] ?? null }]
  })
}
