import type { Path } from './clients.ts'

/** A way from a client to a provider. */
export interface Column {
  path: Path
  over: 'chat' | 'messages' | 'responses'
  isNative: boolean
  title: string
}

/** Outcome of a quirk on one way. */
export interface Cell {
  word: 'works' | 'mended' | 'refused' | 'passed on' | 'fails'
  /** Field of a refusal, or the reason of a failure. */
  field: string
}

const column = (path: Path, over: Column['over'], isNative: boolean): Column => ({
  path,
  over,
  isNative,
  title: isNative ? path : `${path} over ${over === 'chat' ? 'C' : 'M'}`,
})

/** Ways that quirks are tried on. */
export const COLUMNS: readonly Column[] = [
  column('M', 'messages', true),
  column('M', 'chat', false),
  column('R', 'responses', true),
  column('R', 'chat', false),
  column('R', 'messages', false),
  column('C', 'chat', true),
  column('C', 'messages', false),
]

interface Quirk {
  kind: string
  what: string
  source: string
  at?: string
}

interface Part {
  quirks: readonly Quirk[]
  cells: ReadonlyMap<string, ReadonlyMap<Column, Cell>>
}

const HEAD = `# Compatibility

<!-- Written by test/matrix/compatibility.long.ts with GAZEWAY_WRITE_PAGES=1; a test compares it. -->

What providers and clients differ in, and what becomes of it on each way through Gazeway. M is the Messages API, R Responses and C chat
completions: \`M over C\` is a request to \`/v1/messages\` that a provider of chat completions answers. Providers are doubles that refuse
what the real ones refuse, by their references and public reports; clients are the official SDKs \`@anthropic-ai/sdk\`, \`openai\`
and \`ai\`. In every cell with a stream the order of its events is checked. R is an upstream with the responses endpoint and [the fallback](http.md#the-fallback).

| word | meaning |
| --- | --- |
| works | the request went as it was, or converted without a loss; the answer was read as meant |
| mended | a form that the provider does not take was changed, and named in \`x-gazeway-changed\` ([what a model refuses](upstream.md#what-a-model-refuses)) |
| refused | 400 with this field; lenient requests lose it ([what an upstream cannot express](http.md#what-an-upstream-cannot-express)) |
| passed on | the provider's own refusal, or its answer as it came, reaches the client of the same API; over the other API that is a failure, which no cell has |
| — | the API has no such thing |
`

const SOURCES =
  '\nSources are issues and pull requests on GitHub (`owner/repository#number`), or the reference named.\n'

/** Day and version of Gazeway that a page was written for. */
export interface Written {
  date: string
  version: string
}

const WRITTEN = /\nWritten on (\S+) for Gazeway (\S+)\.\n/

/** The day and version that a page says, if it does. */
export function writtenOf(text: string): Written | null {
  const [, date, version] = WRITTEN.exec(text) ?? []
  return date === undefined || version === undefined ? null : { date, version }
}

/** The page of the matrix. */
export function page(requests: Part, answers: Part, { date, version }: Written): string {
  const written = `\nWritten on ${date} for Gazeway ${version}.\n`
  return [HEAD, written, SOURCES, section('Requests', requests), section('Answers', answers)].join('')
}

function section(title: string, { quirks, cells }: Part): string {
  const used = COLUMNS.filter((one) => [...cells.values()].some((row) => row.has(one)))
  const kinds = [...new Set(quirks.map(({ kind }) => kind))]
  const tables = kinds.map((kind) => {
    const rows = quirks
      .filter((quirk) => quirk.kind === kind)
      .map((quirk) => {
        const row = cells.get(`${kind}: ${quirk.what}`)
        const told = used.map((one) => wordOf(row?.get(one)))
        const at = quirk.at === undefined ? [] : [quirk.at]
        return `| ${[escaped(quirk.what), ...at, ...told, quirk.source].join(' | ')} |`
      })
    const at = title === 'Requests' ? ['asked of'] : []
    const head = ['what', ...at, ...used.map((one) => one.title), 'source']
    return `\n### ${kind}\n\n| ${head.join(' | ')} |\n|${' --- |'.repeat(head.length)}\n${rows.join('\n')}\n`
  })
  return `\n## ${title}\n${tables.join('')}`
}

function wordOf(cell: Cell | undefined): string {
  if (cell === undefined) return '—'
  return cell.word === 'refused' ? `refused: \`${cell.field}\`` : cell.word
}

const escaped = (text: string): string => (/[{}$_]/.test(text) ? `\`${text}\`` : text)
