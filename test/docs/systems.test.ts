import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { generatedPages } from '../../scripts/docs/pages.ts'
import { codeIn, sectionOf, tableUnder } from './markdown.ts'

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const TEST = /^test\/[\w./-]+\.(?:test|long)\.ts$/

describe('the table of Windows and macOS', () => {
  const rows = tableUnder(contributing, 'Windows and macOS')
  const rooms = rows.flatMap(([names = '']) => codeIn(names))

  it('has each room once', () => {
    const adapters = readdirSync('adapters').map((name) => `adapters/${name}`)
    assert.deepEqual([...rooms].sort(), [...readdirSync('src'), ...adapters, 'tools'].sort())
  })

  it('names tests that are there', () => {
    const tests = rows.flatMap(([, , names = '']) => codeIn(names)).filter((word) => word.startsWith('test/'))
    assert.ok(tests.length > 20, String(tests))
    for (const test of tests) assert.ok(TEST.test(test) && existsSync(test), test)
  })

  it('says of no room that it has nothing of a system where it has', () => {
    const [first = ''] = rows.find(([, differs = '']) => differs.startsWith('nothing')) ?? []
    const plain = codeIn(first)
    assert.ok(plain.length > 15, String(plain))
    const ofSystem =
      /from 'node:(?:child_process|fs|net|os|path)(?:\/promises)?'|process\.(?:getuid|kill|platform|umask)|process\.on\('SIG/
    for (const room of plain) {
      const path = existsSync(join('src', room)) ? join('src', room) : room
      for (const file of filesIn(path)) assert.doesNotMatch(readFileSync(file, 'utf8'), ofSystem, file)
    }
  })
})

describe('the list of what keeps the reference true', () => {
  const section = sectionOf(contributing, 'Documentation')
  const rows = tableUnder(section, 'Documentation')
  const pagesIn = (cell: string) => codeIn(cell).filter((word) => !word.includes('/'))
  const listed = (kind: RegExp) => rows.filter(([by = '']) => kind.test(by)).flatMap(([, cell = '']) => pagesIn(cell))

  it('has each page once', () => {
    const pages = readdirSync('docs/reference').filter((name) => name.endsWith('.md'))
    assert.deepEqual(
      rows.flatMap(([, cell = '']) => pagesIn(cell)).sort(),
      pages.map((name) => name.slice(0, -3)).sort(),
    )
  })

  it('has those as generated that npm run docs writes', () => {
    const generated = generatedPages().flatMap(({ file }) => /^docs\/reference\/(.*)\.md$/.exec(file)?.slice(1) ?? [])
    assert.deepEqual(listed(/^generated/).sort(), generated.sort())
  })

  it('names for each page with a test of its own one that reads it', () => {
    const cells = rows.filter(([by = '']) => /^(?:written|a test)/.test(by)).map(([, cell = '']) => cell)
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)` \([^`)]*`(test\/[^`]+)`\)/g)])
    assert.equal(named.length, listed(/^(?:written|a test)/).length)
    for (const [, page = '', test = ''] of named) {
      const text = readFileSync(test, 'utf8')
      assert.ok(
        text.includes(`reference/${page}.md`) || new RegExp(`\\('${page}'|'${page}'[,\\]]`).test(text),
        `${test}: ${page}`,
      )
    }
  })
})

/** A file, or those below a folder. */
function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(path, name))
}
