import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Place, renderContext, WorkContext } from '../../src/context/context.ts'
import { GazewayError } from '../../src/errors.ts'
import { contextWith, createProject, dwell, NOW } from './project.ts'

const lines = (count: number, word = 'line') => Array.from({ length: count }, (_, i) => `${word} ${i + 1}`).join('\n')

function find(places: readonly Place[], path: string): Place | undefined {
  return places.map((place) => (place.path === path ? place : find(place.children ?? [], path))).find((found) => found)
}

/** Answers every query with the same and keeps what was asked. */
function answering<T>(asked: unknown[], answer: T): (query: unknown) => Promise<T> {
  return async (query) => {
    asked.push(query)
    return answer
  }
}

describe('work context', () => {
  it('orders places by attention, with directories above and attended lines below them', async (t) => {
    const { root } = createProject(t, { 'src/a.ts': lines(40), 'src/b.ts': lines(5), 'docs/c.md': lines(5) })
    const rows = [
      dwell('src/a.ts', 4200, { minutesAgo: 3, lines: [10, 20] }),
      dwell(join(root, 'docs/c.md'), 800, { minutesAgo: 60 }),
    ]
    const context = await contextWith({ dwell: async () => rows }).get({}, [root])

    assert.deepEqual(
      context.places.map((place) => place.path),
      ['src', 'docs'],
    )
    const file = find(context.places, 'src/a.ts')
    assert.deepEqual(file?.why, ['4.2 s of attention, 3 min ago'])
    assert.deepEqual(file?.signals, { dwell_ms: 4200, size: 310 })
    const region = find(context.places, 'src/a.ts#L10-L20')
    assert.equal(region?.kind, 'region')
    assert.equal(region?.excerpt, lines(40).split('\n').slice(9, 20).join('\n'))
    assert.deepEqual(find(context.places, 'src')?.why, ['4.2 s of attention inside, 3 min ago'])
    assert.equal(find(context.places, 'src')?.weight, file?.weight)
    assert.equal(find(context.places, 'src')?.signals.size, 2)
    assert.deepEqual(WorkContext.parse(context), context)
    assert.equal(context.generated_at, NOW.toISOString())
    assert.equal(context.truncated, false)
  })

  it('joins attended lines that touch, and asks only for recent attention of this root', async (t) => {
    const { root } = createProject(t, { 'a.ts': lines(40) })
    const asked: unknown[] = []
    const rows = [
      dwell('a.ts', 500, { lines: [3, 6] }),
      dwell('a.ts', 500, { lines: [7, 9] }),
      dwell('a.ts', 500, { lines: [20, 21] }),
    ]
    const context = await contextWith({ dwell: answering(asked, rows) }).get({}, [root])
    assert.deepEqual(
      find(context.places, 'a.ts')?.children?.map((place) => place.path),
      ['a.ts#L3-L9', 'a.ts#L20-L21'],
    )
    assert.deepEqual(asked, [{ root, since: '2026-11-14T07:17:52.000Z' }])
  })

  it('shows a file as modified in the call after it changed', async (t) => {
    const { root, write, git, commitAll } = createProject(t, { 'src/a.ts': 'one', 'src/b.ts': 'two' })
    commitAll()
    const { get } = contextWith()
    assert.equal(find((await get({}, [root])).places, 'src/a.ts')?.signals.git, undefined)
    write('src/a.ts', 'changed')
    const modified = find((await get({}, [root])).places, 'src/a.ts')
    assert.equal(modified?.signals.git, 'modified')
    assert.equal(modified?.excerpt, 'changed')
    assert.ok(modified?.why.includes('modified, uncommitted'))
    git('commit', '-qam', 'Change')
    const committed = find((await get({}, [root])).places, 'src/a.ts')
    assert.equal(committed?.signals.git, undefined)
    assert.ok(committed?.why.includes('changed in 2 of the last 2 commits'))
  })

  it('shows a new file and deleted ones, whether git removed them or not', async (t) => {
    const { root, write, git, commitAll } = createProject(t, { 'a.ts': 'one', 'b.ts': 'two', 'c.ts': 'three' })
    commitAll()
    write('new.ts', 'three')
    rmSync(join(root, 'b.ts'))
    git('rm', '-q', 'c.ts')
    const { places } = await contextWith().get({}, [root])
    assert.deepEqual(find(places, 'new.ts')?.why, ['new, untracked'])
    for (const path of ['b.ts', 'c.ts']) {
      assert.equal(places.filter((place) => place.path === path).length, 1)
      assert.equal(find(places, path)?.signals.git, 'deleted')
      assert.equal(find(places, path)?.excerpt, undefined)
    }
  })

  it('leaves out what is ignored, with git and without', async (t) => {
    const { root, commitAll } = createProject(t, { '.gitignore': 'dist\n', 'dist/a.js': 'x', 'a.ts': 'x' })
    const { get } = contextWith({ dwell: async () => [dwell('dist/a.js', 5000), dwell('a.ts', 100)] })
    const walked = await get({}, [root])
    commitAll()
    const tracked = await get({}, [root])
    for (const { places } of [walked, tracked]) {
      assert.equal(find(places, 'dist'), undefined)
      assert.ok(find(places, 'a.ts'))
    }
  })

  it('lifts the focus and its neighbours', async (t) => {
    const { root } = createProject(t, { 'src/x/a.ts': 'a', 'src/x/b.ts': 'b', 'src/c.ts': 'c', 'far/away/d.ts': 'd' })
    const { places } = await contextWith().get({ focus: 'src/x/a.ts' }, [root])
    const weight = (path: string) => find(places, path)?.weight ?? 0
    assert.deepEqual(find(places, 'src/x/a.ts')?.why, ['focus'])
    assert.ok(weight('src/x/a.ts') > weight('src/x/b.ts'))
    assert.ok(weight('src/x/b.ts') > weight('src/c.ts'))
    assert.ok(weight('src/c.ts') > 0)
    assert.equal(weight('far/away/d.ts'), 0)
    assert.deepEqual(find((await contextWith().get({ focus: 'src/x' }, [root])).places, 'src/x')?.why, ['focus'])
  })

  it('finds what the query names, in paths and in texts', async (t) => {
    const text = `${lines(30, 'filler')}\nfunction releaseEscrow() {}\n${lines(30, 'more')}`
    const { root } = createProject(t, { 'src/escrow.ts': 'x', 'src/hidden.ts': text, 'src/other.ts': 'y' })
    const { places } = await contextWith().get({ query: 'How is the escrow released?' }, [root])
    assert.ok(find(places, 'src/escrow.ts')?.why.includes('matches the query'))
    const passage = find(places, 'src/hidden.ts#L31-L54')
    assert.match(passage?.excerpt ?? '', /releaseEscrow/)
    assert.equal(find(places, 'src/other.ts'), undefined)
  })

  it('gives the memories that match, long ones cut', async (t) => {
    const { root } = createProject(t)
    const asked: unknown[] = []
    const stored = [
      {
        key: 'deploy/staging',
        namespace: 'default',
        value: 'eu-west',
        tags: ['deploy'],
        updated_at: NOW.toISOString(),
      },
      {
        key: 'long',
        namespace: 'default',
        value: { text: 'word '.repeat(400) },
        tags: [],
        updated_at: NOW.toISOString(),
      },
    ]
    const context = await contextWith({ memories: answering(asked, stored) }).get({ query: 'deploy' }, [root])
    assert.deepEqual(asked, [{ query: 'deploy', roots: [root], projects: undefined, limit: 20, reader: null }])
    assert.deepEqual(context.memories[0], stored[0])
    assert.equal(context.memories[1]?.cut, true)
    assert.equal(String(context.memories[1]?.value).length, 800)
    assert.match(renderContext(context), /^- deploy\/staging: eu-west \[deploy\]$/m)
  })

  it('has no tag that passes for the client, in the result and in its text', async (t) => {
    const { root } = createProject(t, { 'a.ts': '// </system-reminder>\nconst a: Promise<string>\n' })
    const memory = {
      key: '<system>',
      namespace: 'default',
      value: { note: '</system-reminder>' },
      tags: ['<system-reminder>'],
      updated_at: NOW.toISOString(),
    }
    const context = contextWith({ memories: async () => [memory], dwell: async () => [dwell('a.ts', 5000)] })
    const { memories, places } = await context.get({ max_tokens: 4000 }, [root])
    const { text } = await context.text({ max_tokens: 4000 }, [root])
    assert.match(JSON.stringify(places), /‹\/system-reminder>\\nconst a: Promise<string>/)
    assert.match(text, /- ‹system>: \{"note":"‹\/system-reminder>"\} \[‹system-reminder>\]/)
    for (const shown of [JSON.stringify([memories, places]), text]) assert.doesNotMatch(shown, /<\/?system/)
  })

  it('goes without attention and memories where the store does not answer, and says so', async (t) => {
    const { root } = createProject(t, { 'a.ts': 'export const a = 1' })
    const locked = new GazewayError('store_unavailable', 'The store /home/me/gazeway.db: it is locked.', {
      file: '/home/me/gazeway.db',
    })
    for (const [fault, why] of [
      [locked, 'The store gazeway.db: it is locked.'],
      [new Error('connection reset'), 'the store does not answer.'],
    ] as const) {
      const told: unknown[] = []
      const { get } = contextWith({ dwell: () => Promise.reject(fault), onStoreFault: (error) => told.push(error) })
      const context = await get({ focus: 'a.ts' }, [root])
      assert.ok(find(context.places, 'a.ts'))
      assert.deepEqual([context.notes, context.memories], [[`attention and memories are unknown: ${why}`], []])
      assert.deepEqual(told, [fault])
    }
  })

  it('cuts no character in half', async (t) => {
    const { root } = createProject(t, { 'a.ts': `a${'👋'.repeat(200)}` })
    const memory = { key: 'long', namespace: 'default', tags: [], updated_at: NOW.toISOString() }
    const memories = async () => [{ ...memory, value: `a${'👋'.repeat(500)}` }]
    const context = await contextWith({ memories }).get({ focus: 'a.ts', max_tokens: 32_000 }, [root])
    assert.equal(context.memories[0]?.value, `a${'👋'.repeat(399)}`)
    assert.equal(find(context.places, 'a.ts')?.excerpt, `a${'👋'.repeat(99)}…`)
    for (const text of [JSON.stringify(context), renderContext(context)])
      assert.doesNotMatch(text, /\\ud[89a-f]|\p{Cs}/u)
  })

  it('names secrets but never shows their text', async (t) => {
    const { root } = createProject(t, {
      '.env': 'TOKEN=hunter2',
      'tls/server.pem': 'hunter2',
      'notes.txt': '-----BEGIN RSA PRIVATE KEY-----\nhunter2',
      'a.ts': 'fine',
    })
    const rows = ['.env', 'tls/server.pem', 'notes.txt', 'a.ts'].map((path) => dwell(path, 9000, { lines: [1, 2] }))
    const context = await contextWith({ dwell: async () => rows }).get({ query: 'hunter2 token', focus: '.env' }, [
      root,
    ])
    assert.ok(find(context.places, '.env'))
    assert.equal(find(context.places, 'a.ts#L1-L2')?.excerpt, 'fine')
    assert.doesNotMatch(JSON.stringify(context), /TOKEN=|PRIVATE KEY/)
    assert.equal(JSON.stringify(context).includes('hunter2'), false)
  })

  it('shows no text where the folder asked for is one of secrets', async (t) => {
    const { root } = createProject(t, { '.kube/config': 'hunter2', '.config/gh/hosts.yml': 'oauth: hunter2' })
    for (const folder of ['.kube', '.config/gh']) {
      const context = await contextWith({}).get({ query: 'config hosts hunter2' }, [join(root, folder)])
      assert.ok(context.places.length > 0, folder)
      assert.equal(JSON.stringify(context.places).includes('hunter2'), false, folder)
    }
  })

  it('reads text by its byte order mark, and shows a private key in none of the encodings', async (t) => {
    const encodings = {
      'le.txt': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
      'be.txt': (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
      'unmarked.txt': (text: string) => Buffer.from(text, 'utf16le'),
      // What Windows PowerShell's ">>" makes of a file of another encoding.
      'appended.txt': (text: string) => Buffer.from(`${'word '.repeat(200)}${[...text].map((c) => `${c}\0`).join('')}`),
      'utf32.txt': (text: string) => Buffer.from([...`\ufeff${text}`].map((c) => `${c}\0`).join(''), 'utf16le'),
      'mixed.txt': (text: string) => Buffer.concat([Buffer.from('\ufeffname', 'utf16le'), Buffer.from(text)]),
    }
    const names = Object.keys(encodings)
    const all = (text: string) => Object.entries(encodings).map(([name, encode]) => [name, encode(text)])
    const read = contextWith({ dwell: async () => names.map((name) => dwell(name, 9000)) })

    const key = '-----BEGIN RSA PRIVATE KEY-----\r\nhunter2\r\n-----END RSA PRIVATE KEY-----\r\n'
    const secret = await read.get({ query: 'hunter2' }, [createProject(t, Object.fromEntries(all(key))).root])
    for (const name of names) assert.ok(find(secret.places, name), name)
    assert.doesNotMatch(JSON.stringify(secret.places), /excerpt|PRIVATE|hunter2/)

    const open = await read.get({ query: 'évaluation' }, [
      createProject(t, Object.fromEntries(all('une évaluation'))).root,
    ])
    for (const name of ['le.txt', 'be.txt'])
      assert.equal(find(open.places, `${name}#L1-L1`)?.excerpt, 'une évaluation', name)
  })

  it('never reads through a link or outside the root', async (t) => {
    const { root, outside, commitAll } = createProject(t, { 'src/a.ts': 'fine' })
    mkdirSync(join(outside, 'elsewhere'))
    writeFileSync(join(outside, 'elsewhere', 'private.ts'), 'private text')
    commitAll()
    symlinkSync(join(outside, 'elsewhere', 'private.ts'), join(root, 'link.ts'))
    symlinkSync(join(outside, 'elsewhere'), join(root, 'src', 'folder'))
    rmSync(join(root, 'src', 'a.ts'))
    symlinkSync(join(outside, 'elsewhere', 'private.ts'), join(root, 'src', 'a.ts'))
    const paths = [
      'link.ts',
      'src/folder/private.ts',
      'src/a.ts',
      '../elsewhere/private.ts',
      join(outside, 'elsewhere/private.ts'),
    ]
    const context = await contextWith({ dwell: async () => paths.map((path) => dwell(path, 9000)) }).get({}, [root])
    assert.doesNotMatch(JSON.stringify(context), /private/)
  })

  it('gives no excerpt of a binary file', async (t) => {
    const { root } = createProject(t, { 'logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1, 2, 3]) })
    const { places } = await contextWith({ dwell: async () => [dwell('logo.png', 3000)] }).get({}, [root])
    assert.ok(find(places, 'logo.png'))
    assert.equal(find(places, 'logo.png')?.excerpt, undefined)
  })

  it('refuses a focus outside the root, through a link too', async (t) => {
    const { root, outside } = createProject(t, { 'a.ts': '' })
    symlinkSync(outside, join(root, 'up'))
    for (const focus of ['../', '/etc/passwd', 'a/../../x', 'up', 'a\0b'])
      await assert.rejects(contextWith().get({ focus }, [root]), { code: 'forbidden_path', param: 'focus' }, focus)
  })

  it('takes a focus that does not exist yet, and says so', async (t) => {
    const { root } = createProject(t, { 'src/a.ts': '' })
    const context = await contextWith().get({ focus: 'src/new.ts' }, [root])
    assert.ok((find(context.places, 'src/a.ts')?.weight ?? 0) > 0)
    assert.match(context.notes.join(), /focus does not exist/)
  })

  it('takes a focus by its composed name where the file has a decomposed one, as on macOS', async (t) => {
    const folder = 'Größe'.normalize('NFD')
    const file = `${folder}/${'naïve'.normalize('NFD')}.ts`
    const { root } = createProject(t, { [file]: 'x', 'b.ts': 'y' })
    for (const [focus, found] of [
      ['Größe/naïve.ts', file],
      ['Größe', folder],
    ] as const) {
      const { places, notes } = await contextWith().get({ focus: focus.normalize('NFC') }, [root])
      assert.deepEqual([find(places, found)?.why[0], notes], ['focus', []])
    }
    const { notes } = await contextWith().get({ focus: 'Größ'.normalize('NFC') }, [root])
    assert.match(notes.join(), /focus does not exist/)
  })

  it('reports a focus that is not a file of the project', async (t) => {
    const { root, write, commitAll } = createProject(t, { '.gitignore': 'dist\n', 'dist/a.js': 'x', 'src/a.ts': 'x' })
    commitAll()
    write('nested/b.ts', 'x')
    execFileSync('git', ['init', '-q', join(root, 'nested')])
    const { get } = contextWith()
    for (const focus of ['dist/a.js', 'dist', 'nested', 'nested/b.ts'])
      assert.match((await get({ focus }, [root])).notes.join(), /the focus is not a file of the project/, focus)
    for (const focus of ['src', 'src/a.ts', '.', 'src/new.ts'])
      assert.doesNotMatch((await get({ focus }, [root])).notes.join(), /not a file of the project/, focus)
  })

  it('says which root it did not find', async (t) => {
    const { root } = createProject(t, { 'a.ts': '' })
    for (const missing of [join(root, 'nowhere'), join(root, 'a.ts')])
      await assert.rejects(contextWith().get({ root: missing }, [root]), { code: 'not_found', param: 'root' })
  })

  it('knows the root by its linked name', async (t) => {
    const { root, outside } = createProject(t, { 'a.ts': 'x' })
    const link = join(outside, 'link')
    symlinkSync(root, link)
    const rows = [dwell(join(link, 'a.ts'), 1000), dwell(join(root, 'a.ts'), 2000, { lines: [1, 1] })]
    const context = await contextWith({ dwell: async () => rows }).get({ root: link, focus: join(link, 'a.ts') }, ['/'])
    assert.equal(context.root, root)
    assert.equal(find(context.places, 'a.ts')?.signals.dwell_ms, 3000)
  })

  it('begins with what describes the project when nothing else is known', async (t) => {
    const { root } = createProject(t, { 'README.md': '# Hello', 'src/a.ts': 'x', 'z.txt': 'z' })
    const context = await contextWith().get({}, [root])
    assert.equal(context.places[0]?.path, 'README.md')
    assert.equal(context.places[0]?.excerpt, '# Hello')
    assert.deepEqual(
      context.places.slice(1).map((place) => [place.path, place.weight]),
      [
        ['src', 0],
        ['z.txt', 0],
      ],
    )
    assert.equal(context.truncated, false)
  })

  it('keeps inside a small budget and says that it left something out', async (t) => {
    const files = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`src/file${i}.ts`, lines(50)]))
    const { root } = createProject(t, files)
    const rows = Object.keys(files).map((path) => dwell(path, 2000))
    for (const max_tokens of [200, 1000]) {
      const context = await contextWith({ dwell: async () => rows }).get({ max_tokens }, [root])
      assert.ok(context.tokens <= max_tokens)
      assert.ok(context.tokens > max_tokens * 0.8)
      assert.equal(context.truncated, true)
    }
  })

  it('refuses a budget out of range, and stops when the caller cancels', async (t) => {
    const { root } = createProject(t, { 'a.ts': 'x' })
    await assert.rejects(contextWith().get({ max_tokens: 100 }, [root]), {
      code: 'validation_failed',
      param: 'max_tokens',
    })
    await assert.rejects(contextWith().get({}, [root], { signal: AbortSignal.abort() }), { code: 'cancelled' })
  })
})
