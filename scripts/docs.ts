import { writeFileSync } from 'node:fs'
import { generatedPages } from './docs/pages.ts'

/**
 * Brings the reference pages up to date with the schemas. With --check it changes nothing and ends with 1 where a page
 * is behind.
 */

const stale = generatedPages().filter(({ found, expected }) => found !== expected)
const checking = process.argv.includes('--check')
for (const { file, expected } of stale) {
  if (checking) console.error(`${file} is behind the schemas: run npm run docs.`)
  else {
    writeFileSync(file, expected)
    console.log(`wrote ${file}`)
  }
}
if (checking && stale.length > 0) process.exitCode = 1
