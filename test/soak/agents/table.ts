import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { AGENTS, type Agent } from './agents.ts'
import { PROVIDERS } from './providers.ts'

/** Outcome of a session. */
export type Outcome = 'works' | 'fails'

const PAGE = 'docs/reference/clients.md'
const [START, END] = ['<!-- sessions:start -->', '<!-- sessions:end -->']

/** Writes the results of sessions into the page of clients, with the versions of the agents and today's date. */
export function writeTable(results: ReadonlyMap<string, Outcome>, programOf: (agent: Agent) => string): void {
  const page = readFileSync(PAGE, 'utf8')
  const [before = '', rest = ''] = page.split(START)
  const [table = '', after = ''] = rest.split(END)
  const names = Object.keys(PROVIDERS)
  const rows = Object.entries(AGENTS).map(([name, agent]: [string, Agent]) => {
    const said = execFileSync(programOf(agent), ['--version'], { encoding: 'utf8' })
    const version = /\d+\.\d+\.\d+/.exec(said)?.[0]
    // Those that did not run keep what the same version had.
    const had = new RegExp(`^\\| ${name} ${version} .*`, 'm').exec(table)?.[0].split(' | ').slice(1) ?? []
    return [
      `${name} ${version}`,
      ...names.map((one, at) => results.get(`${name} ${one}`) ?? had[at]?.replace(' |', '') ?? '—'),
    ]
  })
  const head = [`${new Date().toISOString().slice(0, 10)}`, ...names]
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  writeFileSync(PAGE, `${before}${START}\n\n${lines.join('\n')}\n\n${END}${after}`)
}
