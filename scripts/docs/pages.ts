import { readFileSync } from 'node:fs'
import { configurationReference } from './configuration.ts'
import { withGenerated } from './generated-block.ts'
import { toolsReference } from './tools.ts'

/** A page with a generated part. */
export interface Page {
  file: string
  /** As it is in the tree. */
  found: string
  /** As the schemas say it should be. */
  expected: string
}

/** The pages that follow the schemas, as they are and as they should be. Paths start at the working directory. */
export function generatedPages(): Page[] {
  return [page('docs/configuration.md', configurationReference()), page('docs/tools.md', toolsReference())]
}

function page(file: string, content: string): Page {
  const found = readFileSync(file, 'utf8')
  return { file, found, expected: withGenerated(found, content) }
}
