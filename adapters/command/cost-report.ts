import type { CostPart } from '../../src/coding-sessions/cost-parts.ts'
import type { CostLine, SessionCosts } from '../../src/coding-sessions/session-costs.ts'
import { counted } from '../../src/text/plural.ts'
import { plain } from '../../src/text/single-line.ts'
import type { CommitCost } from './cost-of-range.ts'
import { aligned } from './text-table.ts'

/** Characters of a commit's id that are shown. */
const SHORT = 10

const HEADS: Readonly<Record<CostPart, string[]>> = {
  session: ['SESSION', 'BEGAN'],
  day: ['DAY'],
  model: ['MODEL'],
  commit: ['COMMIT', 'AT', 'SUBJECT'],
}

/** Formats costs as a table for a terminal, with a last line in words. */
export function costTable(by: CostPart, what: string, { lines, total }: SessionCosts): string {
  const first = lines.map((line) => cellsOf(by, line))
  const rows = lines.map((line, i) => [...(first[i] ?? []), ...figures(line)])
  const table = rows.length === 0 ? '' : `${aligned([...HEADS[by], 'CALLS', 'INPUT', 'OUTPUT', 'COST'], rows)}\n`
  return `${table}${plain(what)} cost ${dollars(total.cost_usd)} in ${counted(total.sessions, 'session')}.\n`
}

function cellsOf(by: CostPart, { key, at, subject }: CostLine): string[] {
  if (by === 'commit')
    return key === null
      ? ['-', minute(at), 'after the last commit']
      : [key.slice(0, SHORT), minute(at), plain(subject ?? '')]
  return by === 'session' ? [plain(key ?? ''), minute(at)] : [plain(key ?? '')]
}

const figures = ({ calls, prompt_tokens, completion_tokens, cost_usd }: CostLine): string[] =>
  [calls, prompt_tokens, completion_tokens].map(String).concat(dollars(cost_usd))

const minute = (at: string): string => at.slice(0, 16).replace('T', ' ')

/** Cents; below ten of them as many decimals as an amount has. */
function dollars(usd: number): string {
  return usd !== 0 && usd < 0.1 ? `$${usd.toFixed(6).replace(/0+$/, '')}` : `$${usd.toFixed(2)}`
}

/** Formats the cost of commits as Markdown, for the description of a pull request. */
export function costMarkdown(commits: readonly CommitCost[]): string {
  const lines = commits.map(({ sha, subject, cost }) =>
    row([
      `\`${sha.slice(0, SHORT)}\``,
      escaped(subject),
      String(cost?.sessions ?? '–'),
      String(cost?.calls ?? '–'),
      cost === null ? '–' : dollars(cost.cost_usd),
    ]),
  )
  const micros = commits.reduce((sum, { cost }) => sum + Math.round((cost?.cost_usd ?? 0) * 1e6), 0)
  const noted = commits.filter(({ cost }) => cost !== null).length
  const head = [row(['Commit', 'Subject', 'Sessions', 'Calls', 'Cost']), row(['---', '---', '--:', '--:', '--:'])]
  const sum = `**${dollars(micros / 1e6)}** for ${counted(commits.length, 'commit')}; agents worked on ${noted}.`
  return `${[...head, ...lines, '', sum].join('\n')}\n`
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Keeps a subject in its cell, and from being more than text. */
const escaped = (text: string): string => plain(text).replace(/[\\|`*_[\]<>#@]/g, '\\$&')
