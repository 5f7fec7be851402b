import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { ASSISTANTS } from '../../src/assistants/assistants.ts'
import { cursor } from '../../src/assistants/cursor.ts'
import { vscode } from '../../src/assistants/vscode.ts'

const page = readFileSync('docs/reference/assistants.md', 'utf8')
const LAUNCH = { command: 'gazeway', args: [] }
const linksTo = (start: string): URL[] =>
  [...page.matchAll(/(?:https|cursor|vscode):[^\s)]+/g)].flatMap(([link]) =>
    link.startsWith(start) ? [new URL(link)] : [],
  )

describe('a one-click link', () => {
  it('to Cursor decodes to its entry', () => {
    const links = [
      ...linksTo('https://cursor.com/en/install-mcp'),
      ...linksTo('cursor://anysphere.cursor-deeplink/mcp/install'),
    ]
    assert.equal(links.length, 2)
    for (const { searchParams } of links) {
      assert.equal(searchParams.get('name'), 'gazeway')
      const config = JSON.parse(Buffer.from(searchParams.get('config') ?? '', 'base64').toString())
      assert.deepEqual(config, cursor.entry(LAUNCH, ['XAI_API_KEY']))
    }
  })

  it('to VS Code decodes to its entry', () => {
    const [page, ...more] = linksTo('https://vscode.dev/redirect/mcp/install')
    const [direct, ...others] = linksTo('vscode:mcp/install')
    assert.deepEqual([more, others], [[], []])
    const entry = vscode.entry(LAUNCH, ['XAI_API_KEY'])
    assert.equal(page?.searchParams.get('name'), 'gazeway')
    assert.deepEqual(JSON.parse(page?.searchParams.get('config') ?? ''), entry)
    assert.deepEqual(JSON.parse(decodeURIComponent(direct?.search.slice(1) ?? '')), { name: 'gazeway', ...entry })
  })
})

describe('docs/reference/assistants.md', () => {
  it('names every assistant, and the page that its facts are from', () => {
    for (const { label, name, source } of ASSISTANTS)
      assert.ok(page.includes(`| [${label}](${source}) | \`${name}\` |`), name)
  })
})
