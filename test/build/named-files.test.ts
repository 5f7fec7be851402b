import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'

/** Names of files that a command runs: `npm test`, `npm run test:long`, `npm run test:soak`. */
const IS_RUN = /\.(test|long)\.ts$|^test\/soak\/[\w-]+\.ts$/

it('every file with cases is run by a command: by its name, or by a file that imports or starts it', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
  const texts = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  const imported = new Set(
    texts.flatMap(({ file, text }) =>
      [...text.matchAll(/(?:from |new URL\()'([^':]+\.ts)'/g)].map(([, path = '']) =>
        join(dirname(file), path).replaceAll('\\', '/'),
      ),
    ),
  )
  const withCases = texts.filter(({ text }) => /^import \{[^}]*\bit\b[^}]*\} from 'node:test'/m.test(text))
  assert.ok(withCases.length > 500, `${withCases.length} files`)
  const forgotten = withCases.flatMap(({ file }) => (IS_RUN.test(file) || imported.has(file) ? [] : [file]))
  assert.deepEqual(forgotten, [], 'name it *.test.ts, or *.long.ts where it repeats what another shows')
})
