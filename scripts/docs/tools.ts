import { describeTools } from '../../adapters/stdio/describe-tools.ts'
import { tools } from '../../tools/index.ts'
import type { Tool } from '../../tools/tool.ts'
import { type Field, fieldsOf, type JsonSchema } from './fields.ts'
import { code, table } from './table.ts'

/** What each tool takes and answers, as Markdown, in the order of the list. */
export function toolsReference(): string {
  const listed = new Map(describeTools().map((tool) => [tool.name, tool]))
  return tools
    .map((tool) => {
      const schemas = listed.get(tool.name)
      const input = fieldsOf(schemas?.inputSchema as JsonSchema, tool.input)
      const output = fieldsOf(schemas?.outputSchema as JsonSchema, tool.output)
      return [
        `## ${tool.name}`,
        `**${tool.title}.** ${tool.description}`,
        hints(tool),
        '### Takes',
        table(['field', 'holds', 'default', 'what it is for'], input.map(inputRow)),
        '### Answers',
        table(['field', 'holds', 'what it is'], output.map(outputRow)),
      ].join('\n\n')
    })
    .join('\n\n')
}

function hints({ annotations }: Tool): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  const writes = destructiveHint ? 'May delete or replace' : 'Adds or updates'
  return [
    readOnlyHint ? 'Changes nothing' : writes,
    idempotentHint ? 'safe to repeat' : 'may answer differently when repeated',
    openWorldHint ? 'calls the upstream' : 'stays on this machine',
  ].join(' · ')
}

function inputRow({ name, holds, required, default: byDefault, description }: Field): string[] {
  const missing = required ? 'required' : ''
  return [code(name), holds, byDefault === undefined ? missing : code(byDefault), description]
}

function outputRow({ name, holds, required, description }: Field): string[] {
  return [code(name), required ? holds : `${holds}; may be absent`, description]
}
