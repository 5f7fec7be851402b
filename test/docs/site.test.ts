import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { pagesOf } from '../../scripts/docs/links.ts'
import { brokenLinks } from '../../scripts/site/broken-links.ts'
import { siteTarget } from '../../scripts/site/repository-links.ts'
import { sidebarOf } from '../../scripts/site/sidebar.ts'

describe('the navigation of the site', () => {
  const index = readFileSync('docs/README.md', 'utf8')

  it('leads to every page of docs/', () => {
    const links = sidebarOf(index).flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`))
    const pages = pagesOf('.').filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
    assert.deepEqual([...new Set(links)].sort(), pages)
  })

  it('is not made without the tables that it is read from', () => {
    assert.throws(() => sidebarOf('# Documentation\n\n## Guides\n\n## Reference\n'), /has no tables/)
  })
})

describe('a link of a page on the site', () => {
  const at = (target: string, page = 'guides/operate.md') => siteTarget(target, page, 'https://example.com/r')

  it('leads to the repository where it leaves docs/', () => {
    assert.equal(at('../../deploy/Caddyfile'), 'https://example.com/r/blob/main/deploy/Caddyfile')
    assert.equal(at('../README.md#guides'), '../index.md#guides')
    assert.equal(at('../../README.md#try-it'), 'https://example.com/r/blob/main/README.md#try-it')
    assert.equal(
      at('review-policy.schema.json', 'reference/reviews.md'),
      'https://example.com/r/blob/main/docs/reference/review-policy.schema.json',
    )
  })

  it('stays as it is within docs/, on its page and to other sites', () => {
    for (const target of [
      'routes.md#retries',
      '../reference/http.md',
      '#upgrade',
      'https://example.com/',
      'mailto:a@b.c',
    ])
      assert.equal(at(target), target)
  })
})

describe('the check of the built site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-site-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'guides'))
  const faultsOf = (html: string) => {
    writeFileSync(join(folder, 'index.html'), '<h1 id="top">Here</h1>')
    writeFileSync(join(folder, 'guides/a.html'), html)
    return brokenLinks(folder, '/docs/')
  }

  it('takes links to pages, elements and other sites', () => {
    const html =
      '<a href="/docs/">a</a><a href="../index.html#top">b</a><a href="https://example.com/x">c</a><img src="a.html">'
    assert.deepEqual(faultsOf(html), [])
  })

  for (const [what, html, says] of [
    ['a page that is not there', '<a href="/docs/b.html">b</a>', /b\.html, which does not exist/],
    ['a picture that is not there', '<img src="/docs/b.png">', /b\.png, which does not exist/],
    ['an element that is not there', '<a href="/docs/#end">b</a>', /leads to no element/],
    ['a page outside the site', '<a href="/other/">b</a>', /leads out of \/docs\//],
  ] as const)
    it(`finds ${what}`, () => {
      const [fault = '', ...more] = faultsOf(html)
      assert.match(fault, says)
      assert.deepEqual(more, [])
    })
})
