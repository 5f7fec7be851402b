import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Locator, Page, Response } from 'playwright-core'
import type { GazeTensor } from '../../src/gaze/tensor.ts'
import { CANARY_LINE } from '../../src/review/canary-line.ts'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { openReceipt } from '../../src/review/receipt.ts'
import type { ReviewWithParts } from '../../src/review/review-record.ts'
import { type GatewayKey, observerLine } from '../../src/signing/gateway-keys.ts'
import type { Task } from '../../src/tasks/task-record.ts'
import { ask, startPlatform } from '../adapters/platform.ts'
import { until } from '../doubles/until.ts'
import { newPlace, run } from '../e2e/server.ts'
import { createRepository, numbered } from '../review/repository.ts'
import { axeFaults, hasFocus, press, WITHOUT_BROWSER } from './browser.ts'
import { type FullBrowser, startFullBrowser } from './full-browser.ts'
import { createReviewed, decide, startReview } from './review-command.ts'

/** A file name that would run a script in a page that writes it as HTML. */
const HOSTILE = '<img src=x onerror=alert(1)>.html'

/** Reads which edge each standing of a line has: width, style, and the name of its colour. */
const drawnEdges = (page: Page) =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'))
    const names = new Map(
      ['good', 'warn', 'bad'].map((name) => {
        probe.style.color = `var(--${name})`
        return [getComputedStyle(probe).color, name]
      }),
    )
    probe.remove()
    return [...document.querySelectorAll('.diff-line')].map((line) => {
      const { borderLeftWidth, borderLeftStyle, borderLeftColor } = getComputedStyle(line)
      const standing = ['read', 'glanced', 'unread'].find((name) => line.classList.contains(name))
      return { standing, edge: `${borderLeftWidth} ${borderLeftStyle} ${names.get(borderLeftColor)}` }
    })
  })

describe('the page of gazeway review', { skip: WITHOUT_BROWSER }, () => {
  let browser: FullBrowser
  before(async () => {
    browser = await startFullBrowser()
  })
  after(() => browser.close())
  const openTab = (t: TestContext, options?: { withClock?: boolean }) => browser.openTab(t, options)

  it('leads from a change to a receipt that gazeway review verify accepts, by the keyboard', async (t) => {
    const { place, key } = createReviewed(t, {
      'src/pay.ts': 'check()\nsend(1) // \u202edaor\n',
      [HOSTILE]: '<script>alert(2)</script>\n',
      empty: '',
      'web/package-lock.json': '{}\n',
    })
    const out = join(place.home, 'receipt.json')
    const { url, ended } = await startReview(t, place, ['--reviewer', 'ann@example.org', '--sign', key, '--out', out])
    const { page, faults, context } = await openTab(t)
    await page.goto(url)
    const other = await context.newPage()
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    await other.goto(url)
    await other.getByText('This link was opened before, and works once. Run gazeway review again.').waitFor()
    await other.close()
    await page.reload()
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    await page.getByText('<script>alert(2)</script>').waitFor()
    assert.match(String(await page.getByText('send(1)').textContent()), /send\(1\) \/\/ U\+202Edaor/)
    assert.equal(await page.locator('.hljs-number').textContent(), '1')
    assert.deepEqual(await axeFaults(page), [])
    await page.keyboard.press('j')
    const [part, title] = [page.getByRole('region', { name: /^empty/ }), page.getByRole('heading', { level: 1 })]
    for (const button of ['Cancel', 'Add', 'Remove']) {
      if (button !== 'Remove') {
        await page.keyboard.press('c')
        await page.getByLabel('Comment').fill('Never mind.')
      }
      await press(page.getByRole('button', { name: button, exact: true }))
      await hasFocus(button === 'Remove' ? title : part)
    }
    await page.keyboard.press('c')
    await page.getByLabel('Comment').fill('Why?')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: /^Acknowledge / }).waitFor()
    await until(async () => {
      if (await page.getByRole('button', { name: 'Acknowledged' }).isVisible()) return true
      await page.keyboard.press('n')
      await page.keyboard.press('a')
      return false
    })
    await page.getByText('5 of 5 lines read').waitFor()
    assert.equal(await page.locator('article .badge', { hasText: /^lock$/ }).count(), 1)
    await decide(page, 'Approve')
    const { code, printed } = await ended
    assert.equal(code, 0, printed)
    assert.match(printed, /ann@example\.org: approve, 5 of 5 lines seen, level seen; signed with SHA256:/)
    const { review } = openReceipt(JSON.parse(readFileSync(out, 'utf8')), 'receipt')
    assert.deepEqual(review.comments, [{ path: 'empty', line: null, text: 'Why?' }])
    assert.match(review.policy ?? '', /^[0-9a-f]{64}$/)
    const lock = { path: 'web/package-lock.json', lines: 1, seen: 1, kind: 'lock' }
    assert.deepEqual(review.coverage.by_file.at(-1), lock)
    const verify = ['review', 'verify', out, '--range', 'HEAD^..HEAD']
    const verdict = await run(place, verify)
    assert.deepEqual([verdict.code, verdict.stdout], [0, 'Passed: 3 hunks and 1 item, read by ann@example.org.\n'])
    assert.deepEqual(faults, [])
  })

  it('confirms with a passkey, and what a remote Gazeway observed then has the level present', async (t) => {
    const platform = await startPlatform('sandbox', { withHttp: false })
    t.after(() => platform.close())
    const repository = createRepository(t)
    const own = { ...newPlace(), project: repository.root }
    const place = { ...own, env: { ...own.env, GAZEWAY_REMOTE: platform.url, GAZEWAY_REMOTE_KEY: platform.key } }
    const { context, page, faults } = await openTab(t)
    const devtools = await context.newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    })

    const enrolment = await startReview(t, place, ['passkey', '--reviewer', 'ann@example.org'])
    await page.goto(enrolment.url)
    await page.getByRole('button', { name: 'Make a passkey' }).click()
    await page.getByText('The terminal prints').waitFor()
    const enrolled = await enrolment.ended
    const passkey = JSON.parse(enrolled.printed.slice(enrolled.printed.indexOf('{')))
    const { keys } = (await (await fetch(`${platform.url}/.well-known/gazeway-keys`)).json()) as { keys: GatewayKey[] }
    repository.commitFiles({
      'review.json': JSON.stringify({
        version: 1,
        allowed_signers: 'allowed_signers',
        observers: ['gateway'],
        passkeys: [passkey],
        level: 'present',
      }),
      allowed_signers: keys.map((key) => observerLine('gateway', key)).join('\n'),
    })
    repository.commitFiles({ 'pay.ts': 'send(1)\n' })

    const judged = async (confirm: (page: Page) => Promise<void>) => {
      const out = join(place.home, 'receipt.json')
      const { url, ended } = await startReview(t, place, ['--reviewer', 'ann@example.org', '--out', out])
      await page.goto(url)
      await page.getByText('1 of 1 lines read').waitFor()
      await page.keyboard.press('d')
      await confirm(page)
      await page.getByText('Decided').waitFor()
      assert.equal((await ended).code, 0)
      return (await run(place, ['review', 'verify', out, '--range', 'HEAD^..HEAD'])).stdout
    }
    const approve = (on: Page) => on.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter')
    assert.equal(await judged(approve), 'Passed: 1 hunk, read by ann@example.org.\n')
    const without = await judged(async (on) => {
      await on.getByLabel('Confirm with').selectOption('no passkey')
      await approve(on)
    })
    assert.match(without, /Failed: 1 unread of 1 hunk/)
    await devtools.send('WebAuthn.disable')
    await devtools.send('WebAuthn.enable')
    const refused = await judged(async (on) => {
      await approve(on)
      await on.getByRole('button', { name: 'Go on without it' }).click()
    })
    assert.match(refused, /Failed: 1 unread of 1 hunk/)
    assert.deepEqual(faults, [])
  })

  it('gives way once the key of the remote Gazeway is revoked, and says when its command has ended', async (t) => {
    const platform = await startPlatform('sandbox', { withHttp: false })
    t.after(() => platform.close())
    const { place, commitFiles } = createReviewed(t, { 'pay.ts': 'send(1)\n' })
    commitFiles({ 'pay.ts': 'send(2)\n' })
    const { key, record } = await platform.gateway.keys.create({ name: 'reviewer', scopes: ['platform'] })
    const remote = { ...place, env: { ...place.env, GAZEWAY_REMOTE: platform.url, GAZEWAY_REMOTE_KEY: key } }
    const { page } = await openTab(t)
    const line = page.getByText('send(2)').first()
    const comeBack = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

    await page.goto((await startReview(t, remote)).url)
    await line.waitFor()
    await platform.gateway.keys.revoke(record.id)
    await comeBack()
    await page.getByRole('alert').getByText('refuses the key').waitFor()
    assert.equal(await line.count(), 0)
    assert.equal(await page.evaluate(() => JSON.stringify(sessionStorage)), '{}')

    const local = await startReview(t, place)
    await page.goto(local.url)
    await line.waitFor()
    local.kill()
    await local.ended
    await comeBack()
    await page.locator('.offline').getByText('gazeway review does not answer').waitFor()
    assert.equal(await line.count(), 1)
  })

  it('reads the result of a task of the remote Gazeway, prints its change, and releases the reward', async (t) => {
    const platform = await startPlatform('sandbox', { withHttp: false })
    t.after(() => platform.close())
    const { place: own, root } = createReviewed(t, { 'pay.ts': 'send(1)\n' })
    const place = { ...own, env: { ...own.env, GAZEWAY_REMOTE: platform.url, GAZEWAY_REMOTE_KEY: platform.key } }
    const post = async <Reply>(path: string, body: object, key = platform.key) => {
      const reply = await ask(platform, 'POST', path, { key, body })
      const answer = (await reply.json()) as Reply
      assert.ok(reply.ok, JSON.stringify(answer))
      return answer
    }
    const agent = (await platform.gateway.keys.create({ name: 'agent', scopes: ['platform'] })).key
    const printed = await run(place, ['review', 'change', 'HEAD^..HEAD'])
    const change = JSON.parse(printed.stdout)
    assert.deepEqual(change, await readChange(await openCheckout(root), 'HEAD^', 'HEAD'))
    const byName = { base: change.base.commit, head: change.head.commit, change: change.digest }
    for (const result of [change, byName]) {
      const task = await post<Task>('/api/tasks', { title: 'Pay', reward_usd: 2, review: { level: 'seen' } })
      const { claim_token } = await post<{ claim_token: string }>(
        `/api/tasks/${task.id}/claim`,
        { agent: 'ada' },
        agent,
      )
      await post(`/api/tasks/${task.id}/complete`, { agent: 'ada', claim_token, result }, agent)
      const { url, ended } = await startReview(t, place, ['--task', task.id, '--reviewer', 'ann@example.org'])
      const { page, faults } = await openTab(t)
      await page.goto(url)
      await page.getByText('1 of 1 lines read').waitFor()
      await decide(page, 'Approve')
      const { code, printed } = await ended
      const [, escrow_id, attestation_id] =
        /release escrow (esc_\w+) with attestation_id (rev_\w+)\./.exec(printed) ?? []
      assert.deepEqual([code, escrow_id], [0, task.escrow_id], printed)
      const released = await post<{ status: string }>('/api/wallet/escrow/release', { escrow_id, attestation_id })
      assert.equal(released.status, 'released')
      assert.deepEqual(faults, [])
    }
    const other = await post<Task>('/api/tasks', { title: 'Pay', review: {} })
    const { claim_token } = await post<{ claim_token: string }>(`/api/tasks/${other.id}/claim`, { agent: 'ada' }, agent)
    const lying = { agent: 'ada', claim_token, result: { ...byName, change: 'e'.repeat(64) } }
    await post(`/api/tasks/${other.id}/complete`, lying, agent)
    const denied = await run(place, ['review', '--task', other.id])
    assert.match(denied.stderr, /names another change than that of its commits, which is [0-9a-f]{64}\./)
    const unnamed = await post<Task>('/api/tasks', { title: 'Pay', review: {} })
    const refused = await run(place, ['review', '--task', unnamed.id])
    assert.deepEqual([refused.code, refused.stderr.includes('names no commits: it needs base and head')], [2, true])
  })

  it('asks attention checks where they are wanted, and names the passed ones in the receipt', async (t) => {
    const { place } = createReviewed(t, { 'a.ts': 'const one_line = 1\n', 'b.ts': 'send(first)\nsend(second)\n' })
    const out = join(place.home, 'receipt.json')
    const { url, ended } = await startReview(t, place, ['--checks', '--reviewer', 'ann@example.org', '--out', out])
    const { page, faults } = await openTab(t)
    await page.goto(url)
    await page.getByText('3 of 3 lines read').waitFor()
    await page.keyboard.press('d')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('they raise no level').waitFor()
    assert.deepEqual(await axeFaults(page), [])
    const lines = { 'a.ts': ['const one_line = 1'], 'b.ts': ['send(first)', 'send(second)'] }
    const [, line = '', path = ''] = /Type line (\d) of (\w\.ts)/.exec((await dialog.textContent()) ?? '') ?? []
    await dialog.getByLabel('Type line').fill(lines[path as keyof typeof lines][Number(line) - 1] ?? '')
    await dialog.getByRole('radio', { name: 'Approve' }).check()
    await dialog.getByRole('button', { name: 'Approve' }).press('Enter')
    assert.equal((await ended).code, 0)
    const { review } = openReceipt(JSON.parse(readFileSync(out, 'utf8')), 'receipt')
    assert.deepEqual([review.checks, review.level], [['retype'], 'seen'])
    assert.deepEqual(faults, [])
  })

  it('shows a canary hunk where checks are wanted, says which it was before the decision, and counts it nowhere', async (t) => {
    const { place } = createReviewed(t, { 'a.ts': 'send(first)\n' })
    const reviewed = async (mark: (canary: Locator, page: Page) => Promise<void>, said: string) => {
      const out = join(place.home, 'receipt.json')
      const { url, ended } = await startReview(t, place, ['--checks', '--reviewer', 'ann@example.org', '--out', out])
      const { page, faults } = await openTab(t)
      await page.goto(url)
      await page.getByText('One of the hunks is a check').waitFor()
      const canary = page.getByRole('region', { name: /^a\.ts, @@ −0,0 \+9,2 @@/ })
      await canary.getByText(CANARY_LINE).waitFor()
      await page.getByText('1 of 1 lines read').waitFor()
      await mark(canary, page)
      await page
        .getByRole('region', { name: /: read$/ })
        .nth(1)
        .waitFor()
      await page.keyboard.press('d')
      const dialog = page.getByRole('dialog')
      await dialog.getByText(`The hunk at line 9 of a.ts was a check. It is no part of the change`).waitFor()
      await dialog.getByText(said).waitFor()
      await dialog.getByText('1 of 1 lines read, all hunks').waitFor()
      assert.deepEqual(await axeFaults(page), [])
      await dialog.getByRole('button', { name: 'Go on reading' }).click()
      assert.equal(await page.getByRole('button', { name: 'No part of the change?' }).count(), 0, 'no mark changes now')
      await canary.getByText('no part of the change', { exact: true }).waitFor()
      await decide(page, 'Approve')
      assert.equal((await ended).code, 0)
      assert.deepEqual(faults, [])
      return openReceipt(JSON.parse(readFileSync(out, 'utf8')), 'receipt').review
    }
    const found = await reviewed(async (canary, page) => {
      await canary.focus()
      await page.keyboard.press('c')
      await page.getByLabel('Comment').fill('What is this?')
      await page.keyboard.press('Control+Enter')
      await page.keyboard.press('x')
      await canary.getByRole('button', { name: 'Marked: no part of the change' }).waitFor()
    }, 'You marked it.')
    const missed = await reviewed(async () => {}, 'You did not mark it, and the receipt will say so.')
    assert.deepEqual([found.checks, missed.checks], [['canary'], []])
    assert.equal(found.comments, undefined, 'a comment on the canary is on no line of the change')
    assert.doesNotMatch(found.evidence.reasons.join(), /canary/)
    assert.match(
      missed.evidence.reasons.join(),
      /a canary hunk, which is not part of the change, was shown and not marked/,
    )
    for (const { coverage, level } of [found, missed])
      assert.deepEqual([coverage.lines, coverage.seen, coverage.hunks.length, level], [1, 1, 1, 'seen'])
  })

  it('draws on the edge of each line whether it was read, and asks for changes or comments alone', async (t) => {
    const { place } = createReviewed(t, { 'long.txt': numbered(200) })
    const out = join(place.home, 'receipt.json')
    const edges = new Map<string | undefined, Set<string>>()
    for (const [answer, decision] of [
      ['Request changes', 'request_changes'],
      ['Comment only', 'comment'],
    ] as const) {
      const { url, ended } = await startReview(t, place, ['--reviewer', 'ann@example.org', '--out', out])
      const { page, faults } = await openTab(t)
      await page.setViewportSize({ width: 1000, height: 300 })
      await page.goto(url)
      await page.getByText('line 1', { exact: true }).waitFor()
      await until(
        async () => {
          for (const { standing, edge } of await drawnEdges(page))
            edges.set(standing, (edges.get(standing) ?? new Set()).add(edge))
          if (edges.size === 3) return true
          if (edges.has('read')) await page.keyboard.press('n')
          return false
        },
        { seconds: 60 },
      )
      await decide(page, answer)
      assert.equal((await ended).code, 0)
      const { review } = openReceipt(JSON.parse(readFileSync(out, 'utf8')), 'receipt')
      assert.equal(review.decision, decision)
      assert.deepEqual(faults, [])
    }
    assert.deepEqual(Object.fromEntries([...edges].map(([standing, of]) => [standing, [...of]])), {
      unread: ['6px solid bad'],
      glanced: ['6px double warn'],
      read: ['6px solid good'],
    })
  })

  it('sends where the pointer rests, what is selected and what is commented on, and the reading counts it', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(20) })
    const { url } = await startReview(t, place, ['--reviewer', 'ann@example.org'])
    const { page, faults } = await openTab(t, { withClock: true })
    const acts: GazeTensor[] = []
    let reading: ReviewWithParts['reading'] | undefined
    page.on('request', (request) => {
      if (request.url().endsWith('/evidence'))
        acts.push(...request.postDataJSON().records.filter(({ env }: GazeTensor) => env.app !== undefined))
    })
    const replies: Promise<void>[] = []
    const take = async (response: Response) => {
      if (response.url().endsWith('/evidence')) reading = await response.json()
    }
    const onResponse = (response: Response) => void replies.push(take(response))
    page.on('response', onResponse)
    await page.goto(url)
    await page.getByText('line 20', { exact: true }).waitFor()
    const placeOf = async (line: number) => {
      const box = await page.getByText(`line ${line}`, { exact: true }).boundingBox()
      assert.ok(box)
      return [box.x + 10, box.y + box.height / 2] as const
    }
    await page.mouse.move(...(await placeOf(7)))
    await page.clock.runFor(2000)
    await page.mouse.dblclick(...(await placeOf(9)))
    await page.clock.runFor(1000)
    await page.keyboard.press('c')
    await page.getByLabel('Comment').fill('Why?')
    await page.keyboard.press('Control+Enter')
    await until(async () => {
      await page.clock.runFor(1000)
      return (reading?.parts[0]?.comments ?? 0) > 0
    })
    page.off('response', onResponse)
    await Promise.all(replies)
    const told = (app: string) => acts.filter(({ env }) => env.app === app)
    const at = (line: number) => ({ path: 'a.txt', line_start: line, line_end: line })
    const pointer = told('review:pointer').find(({ env }) => env.line_start === 7)
    assert.deepEqual([pointer?.source, pointer?.env], ['pointer', { app: 'review:pointer', ...at(7) }])
    assert.ok((pointer?.dwell_ms ?? 0) >= 1000)
    assert.deepEqual(
      ['review:selection', 'review:comment'].map((app) => told(app).map(({ source, env }) => [source, env])),
      [[['manual', { app: 'review:selection', ...at(9) }]], [['manual', { app: 'review:comment', ...at(1) }]]],
    )
    const [part] = reading?.parts ?? []
    assert.ok((part?.pointer_ms ?? 0) >= 1000)
    assert.deepEqual([part?.selections, part?.comments], [1, 1])
    assert.deepEqual(faults, [])
  })

  it('credits no more time than passed, where the page’s clocks are overridden', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(20) })
    const out = join(place.home, 'receipt.json')
    const since = Date.now()
    const { url, ended } = await startReview(t, place, ['--reviewer', 'ann@example.org', '--out', out])
    const { page, faults } = await openTab(t)
    let claimed = 0
    page.on('request', (request) => {
      if (!request.url().endsWith('/evidence')) return
      for (const { dwell_ms } of request.postDataJSON().records) claimed += dwell_ms
    })
    await page.addInitScript(() => {
      const now = performance.now.bind(performance)
      Date.now = () => 0
      performance.now = () => 2 * now()
    })
    await page.goto(url)
    await until(() => claimed > Date.now() - since, { seconds: 60 })
    await page.keyboard.press('d')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/Your pace: \d+\.\d s a changed line\./).waitFor()
    await dialog.getByText(/First scan: 80 % of the lines had been in view after 0\.3 s/).waitFor()
    await dialog.getByRole('button', { name: 'Go on reading' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await decide(page, 'Approve')
    assert.equal((await ended).code, 0)
    const { times } = openReceipt(JSON.parse(readFileSync(out, 'utf8')), 'receipt').review
    assert.ok(times.active_ms > 0)
    assert.ok(times.active_ms <= Date.parse(times.decided_at) - Date.parse(times.started_at), JSON.stringify(times))
    assert.deepEqual(faults, [])
  })

  it('opens 50,000 lines, and credits next to none of them to a script that scrolls through', async (t) => {
    const { place } = createReviewed(t, { 'long.txt': numbered(50_000) })
    const { url, ended } = await startReview(t, place, ['--reviewer', 'eve@example.org'])
    const { page, faults } = await openTab(t)
    await page.goto(url)
    await page.getByText('line 1', { exact: true }).waitFor()
    await page.evaluate(async () => {
      for (let top = 0; top < document.body.scrollHeight; top += document.body.scrollHeight / 40) {
        scrollTo(0, top)
        await new Promise((done) => setTimeout(done, 50))
      }
      scrollTo(0, document.body.scrollHeight)
    })
    await page.getByText('line 50000', { exact: true }).waitFor()
    assert.ok((await page.locator('.diff-line').count()) < 1000, 'lines far from the screen are not drawn')
    await decide(page, 'Approve')
    const { printed } = await ended
    const [, seen] = /approve, (\d+) of 50000 lines seen, level seen/.exec(printed) ?? []
    assert.ok(Number(seen) < 100, printed)
    assert.deepEqual(faults, [])
  })

  it('records nothing of lines that nobody can see: in the background, below an overlay, too small', async (t) => {
    const { place } = createReviewed(t, { 'a.txt': numbered(20) })
    const { url } = await startReview(t, place)
    const { context, page } = await openTab(t, { withClock: true })
    const seenAt: { from: number; to: number }[] = []
    page.on('request', (request) => {
      if (!request.url().endsWith('/evidence')) return
      for (const { at, dwell_ms } of request.postDataJSON().records)
        seenAt.push({ from: Date.parse(at), to: Date.parse(at) + dwell_ms })
    })
    /**
     * Lets five seconds of the page's clock pass. Returns them without the look that was under way, on the clock that records
     * have: once an earlier case has installed a clock in this browser, `Date` is seconds behind it.
     */
    const pass = async (name: string) => {
      const from = (await page.evaluate(() => performance.timeOrigin + performance.now())) + 500
      await page.clock.runFor(5000)
      return { name, from, to: from + 4500 }
    }
    await page.goto(url)
    await page.getByText('line 20', { exact: true }).waitFor()
    const before = await pass('in view')
    const other = await context.newPage()
    await other.bringToFront()
    const hidden = [await pass('in the background')]
    await page.bringToFront()
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('.covered::after { content: ""; position: fixed; inset: 0; z-index: 9 } .small { zoom: 0.3 }')
      document.adoptedStyleSheets = [sheet]
    })
    for (const name of ['covered', 'small', '']) {
      await page.evaluate((style) => document.body.setAttribute('class', style), name)
      if (name !== '') hidden.push(await pass(name))
    }
    const afterwards = await pass('in view again')
    const seenIn = ({ from, to }: { from: number; to: number }) =>
      seenAt.filter((record) => record.from < to && record.to > from).length
    // The page sends what was seen every few seconds, in order.
    await until(async () => {
      if (seenIn(afterwards) === 0) await page.clock.runFor(1000)
      return seenIn(afterwards) > 0
    })
    assert.ok(seenIn(before) > 0)
    for (const one of hidden) assert.equal(seenIn(one), 0, one.name)
  })
})
