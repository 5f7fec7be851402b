import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { describeTools } from '../../adapters/stdio/describe-tools.ts'
import { code, table } from './table.ts'

/** Table of the size of each tool in `tools/list`, in cl100k_base tokens, as Markdown. */
export function tokensTable(): string {
  const tools = describeTools()
  const count = (value: unknown) => countTokens(JSON.stringify(value))
  const chosenBy = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  const rows = tools.map((tool, at) => [code(tool.name), String(count(chosenBy[at])), String(count(tool))])
  const all = ['all twelve', String(count(chosenBy)), String(count({ tools }))]
  return table(['tool', 'name, description and input', 'all of it'], [...rows, all])
}
