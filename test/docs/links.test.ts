import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { deadLinks, pagesOf } from '../../scripts/docs/links.ts'

describe('the check of links', () => {
  const root = mkdtempSync(join(tmpdir(), 'gazeway-links-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'docs/guides'), { recursive: true })
  writeFileSync(
    join(root, 'docs/guides/share.md'),
    '# Share it\n\n## What `--to` does, and why\n\n## Twice\n\n## Twice\n',
  )
  const faultsOf = (page: string) => {
    writeFileSync(join(root, 'README.md'), page)
    return deadLinks(root, pagesOf(root))
  }

  it('reads every page at the top and below docs', () => {
    faultsOf('')
    assert.deepEqual(pagesOf(root), ['README.md', join('docs', 'guides', 'share.md')])
  })

  it('takes links to files, folders, headings and other sites', () => {
    const page = `# Here
[a](docs/guides/share.md) and [b](docs/guides) and [c](#here) and [d](https://example.com/nowhere#x)
[e](docs/guides/share.md#what---to-does-and-why) and [f](docs/guides/share.md#twice-1)
![a picture](docs/guides/share.md "its title")

\`\`\`md
[in code](docs/nothing.md)
\`\`\`
`
    assert.deepEqual(faultsOf(page), [])
  })

  for (const [what, link, says] of [
    [
      'a file that is not there',
      '[a](docs/nothing.md)',
      /^README\.md:3: the link docs\/nothing\.md leads to docs\/nothing\.md/,
    ],
    ['a picture that is not there', '![a](docs/a.png)', /docs\/a\.png, which does not exist/],
    [
      'a heading that the page does not have',
      '[a](docs/guides/share.md#thrice)',
      /share\.md#thrice leads to a heading/,
    ],
    ['a heading of its own page', '[a](#nowhere)', /a heading that README\.md does not have/],
    ['a heading of another case', '[a](docs/guides/share.md#Twice)', /a heading/],
    ['a place outside the project', '[a](../secret.md)', /leads out of the project/],
    ['a reference to nothing', '[a]: docs/none.md', /docs\/none\.md, which does not exist/],
    ['an element of HTML', '<img src="docs/none.png">', /docs\/none\.png, which does not exist/],
  ] as const)
    it(`finds ${what}`, () => {
      const [fault = '', ...more] = faultsOf(`# Here\n\n${link}\n`)
      assert.match(fault, says)
      assert.deepEqual(more, [])
    })
})
