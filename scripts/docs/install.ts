import type { Assistant, Machine } from '../../src/assistants/assistant.ts'
import { ASSISTANTS } from '../../src/assistants/assistants.ts'
import { installLinks } from '../../src/assistants/install-links.ts'
import { code, table } from './table.ts'

/** The one-click links, as Markdown. */
export function linksTable(): string {
  return installLinks()
    .map(
      ({ assistant: { label }, page, direct }) =>
        `- [Add to ${label}](${page}), or open\n\n  \`\`\`text\n  ${direct}\n  \`\`\``,
    )
    .join('\n')
}

/** Table of each assistant's configuration file and of how its entry passes variables on, as Markdown. */
export function assistantsTable(): string {
  const rows = ASSISTANTS.map((assistant) => [
    `[${assistant.label}](${assistant.source})`,
    code(assistant.name),
    userFilesOf(assistant),
    assistant.projectFiles === null ? 'none' : assistant.projectFiles.map(code).join(' or '),
    code(assistant.servers),
    assistant.handsOn,
  ])
  return table(
    ['assistant', 'name', 'your file', 'file in a project', 'servers', 'how variables reach the server'],
    rows,
  )
}

const HOMES: readonly [name: string, machine: Machine][] = [
  ['Linux', { platform: 'linux', home: '~', env: {}, project: '' }],
  ['macOS', { platform: 'darwin', home: '~', env: {}, project: '' }],
  ['Windows', { platform: 'win32', home: '~', env: { APPDATA: '%APPDATA%' }, project: '' }],
]

/** One path where they agree, else one for each platform. */
function userFilesOf(assistant: Assistant): string {
  const paths = HOMES.map(([name, machine]) => [name, assistant.userFiles(machine).map(slashed)] as const)
  const all = new Set(paths.map(([, files]) => files.join()))
  if (all.size === 1) return (paths[0]?.[1] ?? []).map(code).join(' or ')
  return paths.map(([name, files]) => `${name}: ${files.map(code).join(' or ')}`).join('; ')
}

const slashed = (path: string): string => path.replaceAll('\\', '/')
