import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const WEB = resolve('adapters/console/web')
const compressed = (bytes: Uint8Array): number => gzipSync(bytes, { level: 9 }).length

describe('the size of the page of gazeway review', () => {
  it('is at most 27 KB for the rows of a change with their colours, in any one language', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "import { Rows } from './rows.tsx'\nconsole.log(Rows)", resolveDir: join(WEB, 'review') },
      bundle: true,
      minify: true,
      splitting: true,
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      loader: { '.css': 'empty' },
      outdir: 'rows',
      write: false,
    })
    const isFirst = ({ path }: { path: string }) => /stdin|chunk/.test(path)
    const first = outputFiles.filter(isFirst).reduce((sum, { contents }) => sum + compressed(contents), 0)
    const languages = outputFiles.filter((file) => !isFirst(file)).map(({ contents }) => compressed(contents))
    assert.equal(languages.length, 15)
    assert.ok(first + Math.max(...languages) <= 27_000, `${first} and at most ${Math.max(...languages)} bytes`)
  })

  it('is at most 40 KB for all that its first load takes', () => {
    const folder = resolve('dist/console')
    const page = readFileSync(join(folder, 'review.html'), 'utf8')
    const files = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path as string)
    assert.ok(files.some((path) => path.endsWith('.js')) && files.some((path) => path.endsWith('.css')))
    assert.ok(files.every((path) => readdirSync(join(folder, 'assets')).includes(path.slice('assets/'.length))))
    const bytes = [page, ...files.map((path) => readFileSync(join(folder, path)))].map((file) =>
      compressed(Buffer.from(file)),
    )
    const sum = bytes.reduce((one, other) => one + other)
    assert.ok(sum <= 40_000, `${sum} bytes`)
  })
})
