import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createGitReader } from '../../src/context/git.ts'
import { createProject } from './project.ts'

type Project = ReturnType<typeof createProject>

/** A commit object that `git log` would have a signature program check. */
function signedCommit(tree: string): string {
  const ada = 'Ada <ada@example.org> 1795246329 +0000'
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----'
  return `tree ${tree}\nauthor ${ada}\ncommitter ${ada}\n${signature}\n\nSigned\n`
}

const tracked = ({ state }: Awaited<ReturnType<ReturnType<typeof createGitReader>>>) => [
  ...(state?.tracked.keys() ?? []),
]

describe('reading git', () => {
  it('tells modified, added, deleted, renamed, untracked and conflicted files apart', async (t) => {
    const { root, write, git, commitAll } = createProject(t, {
      'a b.ts': '1',
      'gone.ts': '1',
      'old.ts': 'a long enough text to be seen as the same\n',
      'fight.ts': '0',
    })
    commitAll()
    git('checkout', '-q', '-b', 'other')
    write('fight.ts', '1')
    git('commit', '-qam', 'One')
    git('checkout', '-q', '-')
    write('fight.ts', '2')
    git('commit', '-qam', 'Two')
    assert.throws(() => git('merge', 'other'))
    write('a b.ts', '2')
    write('added.ts', 'x')
    git('add', 'added.ts')
    git('mv', 'old.ts', 'new name.ts')
    rmSync(join(root, 'gone.ts'))
    write('fresh/ünïcode "q".ts', 'x')

    const { state, notes } = await createGitReader()(root)
    assert.deepEqual(notes, [])
    assert.deepEqual(Object.fromEntries(state?.changes ?? []), {
      'a b.ts': 'modified',
      'added.ts': 'added',
      'gone.ts': 'deleted',
      'new name.ts': 'renamed',
      'fresh/ünïcode "q".ts': 'untracked',
      'fight.ts': 'conflicted',
    })
  })

  it('lists the files of the last commits, newest first, and follows HEAD', async (t) => {
    const { root, write, git, commitAll } = createProject(t, { 'a.ts': '1', 'b.ts': '1' })
    commitAll()
    const readGit = createGitReader()
    assert.deepEqual((await readGit(root)).state?.commits, [['a.ts', 'b.ts']])
    write('b.ts', '2')
    git('commit', '-qam', 'Change b')
    assert.deepEqual((await readGit(root)).state?.commits, [['b.ts'], ['a.ts', 'b.ts']])
  })

  it('leaves the commits of bots out', async (t) => {
    const { root, write, git, commitAll } = createProject(t, { 'a.ts': '1', 'bot.ts': '1' })
    commitAll()
    const readGit = createGitReader()
    const authors = [
      'dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>',
      'Renovate <bot@renovateapp.com>',
    ]
    for (const [i, author] of [...authors, 'Abbot Costello <abbot@example.org>'].entries()) {
      write(i === authors.length ? 'a.ts' : 'bot.ts', `${i + 2}`)
      git('commit', '-qam', 'Change', '--author', author)
      assert.deepEqual((await readGit(root)).state?.commits.length, i === authors.length ? 2 : 1, author)
    }
    const [newest] = (await readGit(root)).state?.commits ?? []
    assert.deepEqual(newest, ['a.ts'])
  })

  it('sees a file as tracked as soon as it is added', async (t) => {
    const { root, write, git, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    const readGit = createGitReader()
    assert.deepEqual(tracked(await readGit(root)), ['a.ts'])
    write('b.ts', '1')
    git('add', 'b.ts')
    assert.deepEqual(tracked(await readGit(root)), ['a.ts', 'b.ts'])
  })

  it('reads a folder inside a repository with paths relative to it', async (t) => {
    const { root, write, commitAll } = createProject(t, { 'packages/one/a.ts': '1', 'packages/two/b.ts': '1' })
    commitAll()
    write('packages/one/a.ts', '2')
    write('packages/two/b.ts', '2')
    const { state } = await createGitReader()(join(root, 'packages', 'one'))
    assert.deepEqual([...(state?.tracked.keys() ?? [])], ['a.ts'])
    assert.deepEqual([...(state?.changes ?? [])], [['a.ts', 'modified']])
    assert.deepEqual(state?.commits, [['a.ts']])
  })

  it('names new files as they are: no ignored ones, none of packages and of repositories inside', async (t) => {
    const { root, write, git, commitAll } = createProject(t, {
      'a/b.ts': '1',
      '.gitignore': '*.log\n!node_modules\n',
      'node_modules/committed/index.js': '1',
    })
    git('init', '-q')
    git('add', '-f', 'node_modules')
    commitAll()
    for (const path of ['new.ts', 'a/new one.ts', 'a/ignored.log', 'node_modules/x/index.js', 'a/node_modules/y.js'])
      write(path, '1')
    write('node_modules/committed/index.js', '2')
    write('inside/c.ts', '1')
    git('init', '-q', 'inside')
    git('rm', '-q', '--cached', 'a/b.ts')
    const { state } = await createGitReader()(root)
    assert.deepEqual(Object.fromEntries(state?.changes ?? []), {
      'new.ts': 'untracked',
      'a/new one.ts': 'untracked',
      'a/b.ts': 'untracked',
    })
    const below = await createGitReader()(join(root, 'a'))
    assert.deepEqual([...(below.state?.changes.keys() ?? [])].sort(), ['b.ts', 'new one.ts'])
    const insidePackage = await createGitReader()(join(root, 'node_modules/committed'))
    assert.deepEqual([...(insidePackage.state?.changes ?? [])], [['index.js', 'modified']])
  })

  it('leaves links out, and says nothing where there is no repository', async (t) => {
    const { root, commitAll } = createProject(t, { 'a.ts': '1' })
    assert.deepEqual(await createGitReader()(root), { state: null, notes: [] })
    symlinkSync('/etc/passwd', join(root, 'link'))
    commitAll()
    assert.deepEqual(tracked(await createGitReader()(root)), ['a.ts'])
  })

  it('reads a repository without commits', async (t) => {
    const { root, git } = createProject(t, { 'a.ts': '1' })
    git('init', '-q')
    const { state } = await createGitReader()(root)
    assert.deepEqual([...(state?.changes ?? [])], [['a.ts', 'untracked']])
    assert.deepEqual(state?.commits, [])
  })

  it('says why git could not tell', async (t) => {
    const { root, write, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    write('.git/config', '[broken')
    const { state, notes } = await createGitReader()(root)
    assert.equal(state, null)
    assert.match(notes.join(), /git refused \(fatal: bad config/)
  })

  it('says so where git lists more than is read, and does not ask again until the index changes', async (t) => {
    const { root, git, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    const object = git('rev-parse', 'HEAD:a.ts').trim()
    const folders = `${'f'.repeat(250)}/`.repeat(4)
    const entries = Array.from({ length: 66_000 }, (_, i) => `100644 ${object}\t${folders}${i}\n`)
    execFileSync('git', ['-C', root, 'update-index', '--index-info'], { input: entries.join('') })
    const readGit = createGitReader()
    const tooMuch = { state: null, notes: ['changes and commits are unknown: git printed more than 64 MiB'] }
    assert.deepEqual(await readGit(root), tooMuch)
    const { PATH } = process.env
    t.after(() => {
      process.env.PATH = PATH
    })
    process.env.PATH = root
    assert.deepEqual(await readGit(root), tooMuch)
    process.env.PATH = PATH
    git('read-tree', 'HEAD')
    assert.deepEqual(tracked(await readGit(root)), ['a.ts'])
  })

  it('runs nothing that the repository names', async (t) => {
    const { root, outside, write, git, commitAll } = createProject(t, {
      'a.ts': '1',
      '.gitattributes': '* filter=evil\n',
    })
    commitAll()
    const ran = join(outside, 'ran')
    const program = join(outside, 'program')
    write('../program', `#!/bin/sh\ntouch ${ran}\ncat\n`)
    chmodSync(program, 0o755)
    for (const key of [
      'filter.evil.clean',
      'filter.evil.process',
      'core.fsmonitor',
      'gpg.program',
      'core.sshCommand',
      'diff.external',
      'core.pager',
    ])
      git('config', key, program)
    git('config', 'filter.evil.required', 'true')
    git('config', 'log.showSignature', 'true')
    write('.git/signed', signedCommit(git('rev-parse', 'HEAD^{tree}').trim()))
    git('update-ref', 'HEAD', git('hash-object', '-t', 'commit', '-w', join(root, '.git/signed')).trim())
    write('.git/hooks/post-index-change', `#!/bin/sh\ntouch ${ran}\n`)
    chmodSync(join(root, '.git/hooks/post-index-change'), 0o755)
    write('a.ts', '2')

    const { state } = await createGitReader()(root)
    assert.equal(state?.changes.get('a.ts'), 'modified')
    assert.equal(existsSync(ran), false)
  })

  it('runs no git that the repository holds, wherever the search path looks', async (t) => {
    const { root, outside, write, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    const ran = join(outside, 'ran')
    for (const file of ['git', 'node_modules/.bin/git']) {
      write(file, `#!/bin/sh\ntouch ${ran}\n`)
      chmodSync(join(root, file), 0o755)
    }
    const { PATH } = process.env
    t.after(() => {
      process.env.PATH = PATH
    })
    process.env.PATH = `${join(root, 'node_modules/.bin')}:.::${PATH}`
    assert.deepEqual(tracked(await createGitReader()(root)), ['a.ts'])
    assert.equal(existsSync(ran), false)
  })

  it('runs no filter of a folder that is itself a repository, inside of another', async (t) => {
    const { root, outside, write, git, commitAll } = createProject(t, { 'a.ts': '1', 'package/b.ts': '1' })
    commitAll()
    const ran = join(outside, 'ran')
    git('init', '-q', '--bare', 'package')
    git('--git-dir=package', '--work-tree=package', 'add', '-f', 'b.ts')
    const core = '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n'
    write('package/config', `${core}[filter "evil"]\nclean = touch ${ran}; cat\n`)
    write('package/.gitattributes', '* filter=evil\n')
    write('package/b.ts', '2')

    const { state, notes } = await createGitReader()(join(root, 'package'))
    assert.equal(existsSync(ran), false)
    assert.equal(state, null)
    assert.match(notes.join(), /safe\.bareRepository/)
  })

  it('runs no filter of a repository whose configuration is in another place', async (t) => {
    const { root, outside, write, commitAll } = createProject(t, { 'a.ts': '1', '.gitattributes': '* filter=evil\n' })
    commitAll()
    const ran = join(outside, 'ran')
    write('.git/commondir', 'common\n')
    write('.git/common/config', `[filter "evil"]\nclean = touch ${ran}; cat\n`)
    for (const folder of ['objects', 'refs']) renameSync(join(root, '.git', folder), join(root, '.git/common', folder))
    write('a.ts', '2')

    const { state } = await createGitReader()(root)
    assert.equal(existsSync(ran), false)
    assert.equal(state?.changes.get('a.ts'), 'modified')
  })

  it('does not ask for the status when a filter could not be switched off', async (t) => {
    const { root, outside, write, git, commitAll } = createProject(t, {
      'a.ts': '1',
      '.gitattributes': '* filter=e=vil\n',
    })
    commitAll()
    git('config', 'filter.e=vil.clean', `touch ${join(outside, 'ran')}; cat`)
    write('a.ts', '2')
    const { state, notes } = await createGitReader()(root)
    assert.equal(state, null)
    assert.match(notes.join(), /filter/)
    assert.equal(existsSync(join(outside, 'ran')), false)
  })

  it('says so when the names of filters are longer than a command line takes', async (t) => {
    const { root, write, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    write('.git/config', `[filter "${'x'.repeat(200_000)}"]\nclean = cat\n`)
    const { state, notes } = await createGitReader()(root)
    assert.equal(state, null)
    assert.match(notes.join(), /git refused \(E2BIG\)/)
  })

  it('is not led astray by the environment of a git hook', async (t) => {
    const { root, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    process.env.GIT_DIR = join(root, 'nowhere')
    t.after(() => delete process.env.GIT_DIR)
    assert.deepEqual(tracked(await createGitReader()(root)), ['a.ts'])
  })

  it('reads a linked worktree', async (t) => {
    const { outside, git, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    git('worktree', 'add', '-q', join(outside, 'linked'))
    assert.deepEqual(tracked(await createGitReader()(join(outside, 'linked'))), ['a.ts'])
    renameSync(join(outside, 'linked', 'a.ts'), join(outside, 'linked', 'b.ts'))
    const { state } = await createGitReader()(join(outside, 'linked'))
    assert.deepEqual([...(state?.changes ?? [])].sort(), [
      ['a.ts', 'deleted'],
      ['b.ts', 'untracked'],
    ])
  })

  it('reads a submodule, whose git folder is in the repository around it', async (t) => {
    const library = createProject(t, { 'library.ts': '1' })
    library.commitAll()
    const { root, write, git, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.root, 'vendor/library')
    write('vendor/library/library.ts', '2')
    const { state, notes } = await createGitReader()(join(root, 'vendor/library'))
    assert.deepEqual([notes, [...(state?.tracked.keys() ?? [])]], [[], ['library.ts']])
    assert.equal(state?.changes.get('library.ts'), 'modified')
    assert.deepEqual(tracked(await createGitReader()(root)), ['.gitmodules', 'a.ts'])
  })

  it('reads a repository whose git folder is elsewhere in the project', async (t) => {
    const { root, git, write } = createProject(t, { 'a.ts': '1' })
    git('init', '-q', '--separate-git-dir', join(root, 'git-data'))
    git('add', 'a.ts')
    write('a.ts', '2')
    const { state, notes } = await createGitReader()(root)
    assert.deepEqual([notes, [...(state?.tracked.keys() ?? [])]], [[], ['a.ts']])
  })

  /** Settings that point git at another repository or folder. */
  const detours: [what: string, lead: (project: Project, secret: Project) => void][] = [
    ['a .git that names another git folder', ({ write }, secret) => write('.git', `gitdir: ${secret.root}/.git\n`)],
    ['a .git that is a link', ({ root }, secret) => symlinkSync(join(secret.root, '.git'), join(root, '.git'))],
    [
      'a .git that names the git folder of another linked worktree',
      ({ write }, secret) => {
        secret.git('worktree', 'add', '-q', join(secret.outside, 'linked'))
        write('.git', `gitdir: ${secret.root}/.git/worktrees/linked\n`)
      },
    ],
    [
      'a core.worktree',
      ({ git, commitAll }, secret) => {
        commitAll()
        git('config', 'core.worktree', secret.root)
      },
    ],
    [
      'a commondir',
      ({ git, write }, secret) => {
        git('init', '-q')
        write('.git/commondir', `${secret.root}/.git\n`)
      },
    ],
    [
      'a commondir that is a link',
      ({ root, git, write }, secret) => {
        git('init', '-q')
        write('common', `${secret.root}/.git\n`)
        symlinkSync(join(root, 'common'), join(root, '.git/commondir'))
      },
    ],
    [
      'an index that is a link, with the objects of the other repository',
      ({ root, git, write }, secret) => {
        git('init', '-q')
        write('.git/objects/info/alternates', `${secret.root}/.git/objects\n`)
        symlinkSync(join(secret.root, '.git/index'), join(root, '.git/index'))
      },
    ],
    [
      'a reference that is a link, two references away, with the objects of the other repository',
      ({ root, git, write }, secret) => {
        git('init', '-q')
        write('.git/objects/info/alternates', `${secret.root}/.git/objects\n`)
        write('.git/HEAD', 'ref: refs/heads/one\n')
        write('.git/refs/heads/one', 'ref: refs/heads/two\n')
        const branch = secret.git('symbolic-ref', 'HEAD').trim()
        symlinkSync(join(secret.root, '.git', branch), join(root, '.git/refs/heads/two'))
      },
    ],
    [
      'a git folder that is none, below another repository',
      ({ root, outside, write }, secret) => {
        renameSync(join(secret.root, '.git'), join(outside, '.git'))
        mkdirSync(join(root, '.git'))
        write('.git/HEAD', 'nonsense')
      },
    ],
  ]
  for (const [what, lead] of detours)
    it(`follows nothing to another folder: ${what}`, async (t) => {
      const secret = createProject(t, { 'private.ts': 'secret' })
      secret.commitAll()
      const project = createProject(t, { 'a.ts': '1' })
      lead(project, secret)
      const { state, notes } = await createGitReader()(project.root)
      const names = [
        ...(state?.tracked.keys() ?? []),
        ...(state?.changes.keys() ?? []),
        ...(state?.commits.flat() ?? []),
      ]
      assert.ok(!names.some((name) => name.includes('private')), names.join())
      if (state === null) assert.match(notes.join(), /^changes and commits are unknown: /)
    })

  it('does not wait for a repository that git cannot finish reading', async (t) => {
    const hostile = createProject(t, { 'a.ts': '1' })
    hostile.commitAll()
    rmSync(join(hostile.root, '.git/config'))
    execFileSync('mkfifo', [join(hostile.root, '.git/config')])
    const { root, commitAll } = createProject(t, { 'b.ts': '1' })
    commitAll()
    const readGit = createGitReader()
    const caller = new AbortController()
    const threads = Array.from({ length: 4 }, () => readGit(hostile.root, caller.signal))

    assert.deepEqual(tracked(await readGit(root)), ['b.ts'])
    caller.abort()
    for (const reading of threads) await assert.rejects(reading, { code: 'cancelled' })
  })

  it('stops when the caller cancels', async (t) => {
    const { root, commitAll } = createProject(t, { 'a.ts': '1' })
    commitAll()
    await assert.rejects(createGitReader()(root, AbortSignal.abort()), { code: 'cancelled' })
  })
})
