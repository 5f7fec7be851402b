import assert from 'node:assert/strict'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { MAX_FOLDERS } from '../../src/skills/find.ts'
import { categoriesOf, type Skill } from '../../src/skills/skill.ts'
import { type SkillFolders, skillFolders, skillText } from './folders.ts'

const HERMES = 'home/.hermes/skills'
const CLAUDE = 'home/.claude/skills'
const PROJECT = 'project/.claude/skills'

describe('skills', () => {
  let folders: SkillFolders
  afterEach(() => folders.remove())

  const list = async (query = {}) => (await folders.skills.list(query)).items
  const ids = async (query = {}) => (await list(query)).map(({ id }) => id)
  const only = async (): Promise<Skill> => {
    const items = await list()
    assert.equal(items.length, 1)
    return items[0] as Skill
  }

  it('of a user without a home folder are those of the project and the data folder', async () => {
    folders = skillFolders({}, { home: null })
    for (const place of ['project/.claude', 'data', 'home/.claude'])
      folders.write(`${place}/skills/${place.slice(0, 4)}/SKILL.md`, skillText({ description: 'Does it.' }))
    const paths = (await list()).map(({ path }) => path)
    assert.deepEqual(paths.sort(), [
      join(folders.folder, 'data/skills/data/SKILL.md'),
      join(folders.folder, 'project/.claude/skills/proj/SKILL.md'),
    ])
  })

  it('are what their front matter says', async () => {
    folders = skillFolders()
    folders.write(
      `${HERMES}/documents/pdf/SKILL.md`,
      skillText({
        name: 'pdf',
        description: 'Reads PDFs.',
        version: 1.2,
        license: 'MIT',
        compatibility: 'Needs poppler',
        'allowed-tools': 'Bash Read',
        metadata: { author: 'me', hermes: { tags: ['pdf', 'text', 'pdf'] } },
      }),
    )
    const { updated_at, ...skill } = await only()
    assert.ok(Math.abs(Date.parse(updated_at ?? '') - Date.now()) < 60_000, 'it was changed just now')
    assert.deepEqual(skill, {
      id: 'pdf',
      name: 'pdf',
      description: 'Reads PDFs.',
      category: 'documents',
      tags: ['pdf', 'text'],
      version: '1.2',
      license: 'MIT',
      compatibility: 'Needs poppler',
      path: '~/.hermes/skills/documents/pdf/SKILL.md',
      source: 'user',
      installed: true,
      enabled: true,
      metadata: { 'allowed-tools': 'Bash Read', author: 'me', hermes: { tags: ['pdf', 'text', 'pdf'] } },
      warnings: [],
      error: null,
    })
    assert.equal((await folders.skills.get('pdf')).content, 'Do it well.\n')
    await assert.rejects(folders.skills.get('docx'), { code: 'not_found' })
  })

  it('are shown as they were written, numbers and times among them', async () => {
    folders = skillFolders()
    const fields = 'name: 1e3\ndescription: 2024-05-01\nlicense: 2.0\ncompatibility: True\ntags: [1.10, on]'
    const metadata = 'priority: 5\nmetadata: {beta: true, hermes: {version: 1.10}}'
    folders.write(`${CLAUDE}/1e3/SKILL.md`, `---\n${fields}\n${metadata}\n---\n`)
    const { name, description, license, compatibility, tags, version, ...rest } = await only()
    assert.deepEqual([name, description, license, compatibility], ['1e3', '2024-05-01', '2.0', 'True'])
    assert.deepEqual([tags, version], [['1.10', 'on'], '1.10'])
    assert.deepEqual([rest.metadata, rest.warnings], [{ priority: 5, beta: true, hermes: { version: 1.1 } }, []])
  })

  it('come from all roots, and hide each other in their order', async () => {
    folders = skillFolders()
    for (const root of [PROJECT, HERMES, CLAUDE, 'data/skills'])
      folders.write(`${root}/pdf/SKILL.md`, skillText({ name: 'pdf', description: root }))
    folders.write(`${CLAUDE}/other/SKILL.md`, skillText({ name: 'pdf', description: 'The same name elsewhere.' }))
    for (const root of ['.agents', '.codex', '.cursor', '.gemini'])
      folders.write(
        `home/${root}/skills/${root.slice(1)}/SKILL.md`,
        skillText({ name: root.slice(1), description: 'x' }),
      )
    folders.write('data/skills/own/SKILL.md', skillText({ name: 'own', description: 'x' }))
    folders.write('project/.agents/skills/tests/SKILL.md', skillText({ name: 'tests', description: 'x' }))
    assert.deepEqual(await ids(), ['agents', 'codex', 'cursor', 'gemini', 'own', 'pdf', 'tests'])
    const [pdf] = (await list()).filter(({ id }) => id === 'pdf')
    assert.deepEqual([pdf?.description, pdf?.source], [PROJECT, 'project'])
    assert.equal(pdf?.warnings.length, 4)
    assert.match(pdf?.warnings[0] ?? '', /hides ~\/\.hermes\/skills\/pdf\/SKILL\.md/)
    assert.deepEqual(await ids(), await ids(), 'what is hidden is told once')
    assert.equal((await list()).find(({ id }) => id === 'pdf')?.warnings.length, 4)
  })

  it('are looked for where the configuration says', async () => {
    folders = skillFolders({ user_folders: ['my/skills'], project_folders: [], disabled: ['off'] })
    folders.write(`${HERMES}/a/SKILL.md`, skillText({ name: 'a', description: 'x' }))
    folders.write(`${PROJECT}/b/SKILL.md`, skillText({ name: 'b', description: 'x' }))
    folders.write('home/my/skills/on/SKILL.md', skillText({ name: 'on', description: 'x' }))
    folders.write('home/my/skills/off/SKILL.md', skillText({ name: 'off', description: 'x' }))
    assert.deepEqual(
      (await list()).map(({ id, enabled }) => [id, enabled]),
      [
        ['off', false],
        ['on', true],
      ],
    )
    assert.equal((await folders.skills.get('off')).enabled, false)
    assert.throws(() => skillFolders({ user_folders: ['../elsewhere'] }), /not valid/)
    assert.throws(() => skillFolders({ user_folders: ['/etc'] }), /not valid/)
  })

  it('include those that an agent brought along', async () => {
    folders = skillFolders()
    folders.write(`${HERMES}/.bundled_manifest`, 'pdf:0123abc\n')
    for (const name of ['pdf', 'mine'])
      folders.write(`${HERMES}/${name}/SKILL.md`, skillText({ name, description: 'x' }))
    assert.deepEqual(
      (await list()).map(({ id, source }) => [id, source]),
      [
        ['mine', 'user'],
        ['pdf', 'bundled'],
      ],
    )
  })

  it('are read again when they change, come and go', async () => {
    folders = skillFolders()
    assert.deepEqual(await ids(), [])
    const file = folders.write(`${HERMES}/pdf/SKILL.md`, skillText({ name: 'pdf', description: 'Old' }))
    assert.equal((await only()).description, 'Old')
    folders.write(`${HERMES}/pdf/SKILL.md`, skillText({ name: 'pdf', description: 'New' }))
    assert.equal((await only()).description, 'New')
    folders.write(`${HERMES}/docx/SKILL.md`, skillText({ name: 'docx', description: 'x' }))
    assert.deepEqual(await ids(), ['docx', 'pdf'])
    rmSync(file)
    assert.deepEqual(await ids(), ['docx'])
    await assert.rejects(folders.skills.get('pdf'), { code: 'not_found' })
  })

  it('are found by category and by words', async () => {
    folders = skillFolders()
    const skill = (path: string, fields: object) =>
      folders.write(`${HERMES}/${path}/SKILL.md`, skillText({ name: path.split('/').at(-1), ...fields }))
    skill('documents/pdf', { description: 'Reads PDF files.' })
    skill('documents/docx', { description: 'Writes letters.', tags: 'word, office' })
    skill('games/chess', { description: 'Plays.', category: 'leisure' })
    skill('bare', { description: 'Has no category.' })
    assert.deepEqual(await ids({ category: 'documents' }), ['docx', 'pdf'])
    assert.deepEqual(await ids({ category: 'Documents' }), [])
    assert.deepEqual(await ids({ search: 'read pdf' }), ['pdf'])
    assert.deepEqual(await ids({ search: 'OFFICE' }), ['docx'])
    assert.deepEqual(await ids({ search: 'leisure', category: 'leisure' }), ['chess'])
    assert.deepEqual(await ids({ search: 'nothing' }), [])
    assert.deepEqual(categoriesOf(await list()), [
      { name: 'documents', count: 2 },
      { name: 'leisure', count: 1 },
    ])
  })

  it('that break the convention come with warnings', async () => {
    folders = skillFolders()
    folders.write(`${HERMES}/folder/SKILL.md`, skillText({ name: 'My Skill', description: 'x'.repeat(1025) }))
    const { warnings, error, name } = await only()
    assert.deepEqual([name, error], ['My Skill', null])
    assert.equal(warnings.length, 3)
    assert.match(warnings.join(' '), /lowercase letters.*differs from that of its folder.*longer than 1024/)
  })

  it('may have a description of 1,024 characters, whatever they are', async () => {
    folders = skillFolders()
    folders.write(`${HERMES}/smiles/SKILL.md`, skillText({ name: 'smiles', description: '😀'.repeat(1024) }))
    assert.deepEqual((await only()).warnings, [])
  })

  for (const [fault, text, expected] of [
    ['without a description', skillText({ name: 'broken' }), /no description/],
    ['with broken YAML', '---\nname: [broken\n---\n', /not valid YAML/],
    ['without front matter', '# Broken\n', /does not begin with front matter/],
    ['that would be evaluated', '---js\nprocess.exit(1)\n---\n', /does not begin with front matter/],
    ['with a front matter of 100 KB', skillText({ name: 'broken', description: 'x'.repeat(100_000) }), /does not end/],
    ['of nothing', '', /does not begin with front matter/],
    ['of bytes that are no text', '\0\xff\xfe'.repeat(100), /does not begin with front matter/],
  ] as const)
    it(`${fault} are listed with an error`, async () => {
      folders = skillFolders()
      folders.write(`${HERMES}/broken/SKILL.md`, text)
      folders.write(`${HERMES}/whole/SKILL.md`, skillText({ name: 'whole', description: 'x' }))
      assert.deepEqual(await ids(), ['broken', 'whole'])
      const [{ error }] = (await list()) as [Skill]
      assert.match(error ?? '', expected)
      assert.ok(!(error ?? '').includes(folders.folder), 'no path is told')
      assert.equal((await folders.skills.get('broken')).error, error)
    })

  it('of 5 MB are read to a bound, and say so', async () => {
    folders = skillFolders()
    folders.write(
      `${HERMES}/large/SKILL.md`,
      skillText({ name: 'large', description: 'x' }, 'x'.repeat(5 * 1024 * 1024)),
    )
    const { warnings, error } = await only()
    assert.equal(error, null)
    assert.match(warnings.join(), /only the first 1048576 are read/)
    const { content } = await folders.skills.get('large')
    assert.ok(content !== null && content.length <= 1024 * 1024 && content.length > 1_000_000, 'a bounded part is read')
  })

  it('behind links are followed within their root, and never out of it', async () => {
    folders = skillFolders()
    const secret = folders.write('elsewhere/secret/SKILL.md', skillText({ name: 'secret', description: 'x' }))
    folders.write(`${HERMES}/real/SKILL.md`, skillText({ name: 'real', description: 'x' }))
    folders.write(`${HERMES}/linked/notes.txt`, '')
    const root = join(folders.folder, HERMES)
    symlinkSync(join(folders.folder, 'elsewhere'), join(root, 'out'))
    symlinkSync(secret, join(root, 'linked', 'SKILL.md'))
    symlinkSync('../../../../elsewhere/secret', join(root, 'up'))
    symlinkSync(root, join(root, 'circle'))
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'))
    mkdirSync(join(root, 'group'))
    symlinkSync(join(root, 'real'), join(root, 'group', 'again'))
    assert.deepEqual(await ids(), ['real'])
    symlinkSync(join(folders.folder, HERMES), join(folders.folder, 'home', 'hermes'))
    mkdirSync(join(folders.folder, 'home', '.agents'))
    symlinkSync(root, join(folders.folder, 'home', '.agents', 'skills'))
    assert.deepEqual(await ids(), ['real'], 'the same root under another name counts once')
    assert.deepEqual((await list())[0]?.warnings, [])
  })

  it('are looked for 6 folders deep, and not in skills themselves', async () => {
    folders = skillFolders()
    const skill = (path: string, name: string) =>
      folders.write(`${HERMES}/${path}/SKILL.md`, skillText({ name, description: 'x' }))
    skill('1/2/3/4/5/six', 'six')
    skill('1/2/3/4/5/6/seven', 'seven')
    skill('outer', 'outer')
    skill('outer/examples/inner', 'inner')
    skill('node_modules/package', 'package')
    folders.write(`${HERMES}/SKILL.md`, skillText({ name: 'root', description: 'x' }))
    assert.deepEqual(await ids(), ['outer', 'six'])
  })

  it('are looked for in so many folders, and the list says when that is not all', async () => {
    folders = skillFolders()
    folders.write(`${HERMES}/a/SKILL.md`, skillText({ name: 'a', description: 'x' }))
    const root = join(folders.folder, HERMES)
    for (let i = 0; i < MAX_FOLDERS - 2; i++) mkdirSync(join(root, `b${i}`))
    assert.deepEqual(await folders.skills.list({}), { items: await list(), warnings: [] })
    mkdirSync(join(root, 'c'))
    const { items, warnings } = await folders.skills.list({})
    assert.deepEqual([items.length, warnings.length], [1, 1])
    assert.match(warnings[0] ?? '', /^~\/\.hermes\/skills has more than 2000 folders/)
  })
})
