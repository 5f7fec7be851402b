import type { Locator, Page } from 'playwright-core'
import { count, usd } from '../../adapters/console/web/format.ts'

/** Text of the rows of a list, by the label of its column. */
export type Rows = Record<string, string>[]

export const sumOf = (rows: Rows, column: string): number =>
  rows.reduce((sum, row) => sum + Number(row[column]?.replace('−', '-').replace(/[^-\d.]/g, '')), 0)
/** Formats the sum of a column as the console does. */
export const money = (column: string) => (rows: Rows) => usd(Math.round(1e6 * sumOf(rows, column)) / 1e6)
/** Formats the number of rows as the console does. */
export const number = (rows: Rows): string => count(rows.length)

/** Rows of the first table of a page, once they are loaded. */
async function rowsOf(page: Page): Promise<Rows> {
  await page.locator('main table').or(page.locator('main .empty')).first().waitFor()
  return page.evaluate(() => {
    const table = document.querySelector('main table') ?? document.createElement('table')
    const labels = [...table.querySelectorAll('thead th')].map(({ textContent }) => textContent ?? '')
    return [...table.querySelectorAll('tbody tr')].map((row) =>
      // The title of an amount has all its decimals.
      Object.fromEntries(
        [...row.querySelectorAll('td')].map((cell, at) => [
          labels[at],
          cell.querySelector('.money')?.getAttribute('title') ?? cell.textContent ?? '',
        ]),
      ),
    )
  })
}

/** Rows behind a link, read as one does who was sent its address. */
export async function behind(page: Page, link: Locator): Promise<Rows> {
  const from = page.url()
  const to = await link.evaluate((one) => (one as HTMLAnchorElement).href)
  await link.click()
  await page.waitForURL(to)
  await page.reload()
  const rows = await rowsOf(page)
  await page.goto(from)
  return rows
}
