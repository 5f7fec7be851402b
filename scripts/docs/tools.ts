import * as z from 'zod'
import { tools } from '../../tools/index.ts'
import type { Tool } from '../../tools/tool.ts'
import { type Field, fieldsOf, type JsonSchema } from './fields.ts'
import { code, table } from './table.ts'

/** Reference of the input and output of each tool, as Markdown, in the order of the list. */
export function toolsReference(): string {
  return tools
    .map((tool) => {
      const input = fieldsOf(schemaOf(tool.input, 'input'), tool.input)
      const output = fieldsOf(schemaOf(tool.output, 'output'), tool.output)
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

/** Not the schemas as they are listed: those are cut down for models. */
const schemaOf = (schema: z.ZodObject, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { target: 'draft-7', io }) as JsonSchema

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
