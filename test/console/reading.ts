import type { Page } from 'playwright-core'

/** Draws of a normal distribution, the same in each run (mulberry32, Box and Muller 1958). */
function draws(seed: number): () => number {
  let state = seed
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
}

/**
 * Moves the pointer as one does who reads along: from word to word in arcs, to the next line, now and then back; rests of
 * log-normal length (median 220 ms, σ 0.4), as people's fixations have. The page's clock, which must be installed, stands
 * still but for these: a busy machine reads no worse than an idle one.
 */
export async function readWithPointer(page: Page, rests: number): Promise<void> {
  const normal = draws(11)
  const lines = page.locator('[data-line]')
  const box = await lines.first().boundingBox()
  if (!box) throw new Error('There is no text to read.')
  const height = Math.max(1, await lines.count()) * box.height
  let [x, y] = [box.x + 60, box.y + box.height / 2]
  await page.clock.pauseAt(Date.now() + 1000)
  await page.mouse.move(x, y)
  for (let i = 0; i < rests; i++) {
    await page.clock.runFor(220 * Math.exp(0.4 * normal()))
    const isOver = x > box.x + 0.75 * box.width
    const toX = isOver ? box.x + 60 + 20 * Math.abs(normal()) : x + 90 + 45 * normal()
    const step = isOver ? box.height : 3 * normal()
    const toY = Math.min(box.y + height - 4, Math.max(box.y + 4, y + step))
    for (let part = 1; part <= 5; part++) {
      const share = part / 5
      const arc = 12 * Math.sin(Math.PI * share)
      await page.clock.runFor(8)
      await page.mouse.move(x + share * (toX - x), y + share * (toY - y) - arc)
    }
    ;[x, y] = [toX, toY]
  }
  await page.clock.resume()
}
