import { after, before, describe, it } from 'node:test'
import { type ConsoleUnderTest, hasFocus, press, startConsole, WITHOUT_BROWSER } from './browser.ts'

describe('dialogs by the keyboard alone', { skip: WITHOUT_BROWSER }, () => {
  let under: ConsoleUnderTest
  before(async () => {
    under = await startConsole()
  })
  after(async () => {
    under.assertClean()
    await under.close()
  })

  /** Opens a dialog by its button, and waits until its first field has the focus. */
  async function openDialog(at: string, button: string, field: string) {
    const page = await under.open(at)
    await press(page.getByRole('button', { name: button }).first())
    const dialog = page.getByRole('dialog')
    await hasFocus(dialog.getByLabel(field))
    return { page, dialog }
  }

  it('make a task', async () => {
    const { page } = await openDialog('#/tasks', 'New task…', 'Title')
    await page.keyboard.type('By the keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'By the keyboard' }).waitFor()
    await page.close()
  })

  it('divide a goal, whose lines end with Enter, by Ctrl and Enter', async () => {
    const { page } = await openDialog('#/swarm', 'New swarm…', 'Goal')
    await page.keyboard.type('- Measure the start')
    await page.keyboard.down('Enter')
    // Held down, it answers nothing: it may have been pressed for what was there before.
    await page.keyboard.press('Control+Enter')
    await page.keyboard.type('- Write it down')
    await page.keyboard.press('Control+Enter')
    await page.waitForURL(/#\/swarm\/swarm_/)
    await page.getByRole('heading', { name: 'Swarm of 2 tasks' }).waitFor()
    await page.close()
  })

  it('make a key, a connection and a memory', async () => {
    const key = await openDialog('#/keys', 'New key', 'Name')
    await key.page.keyboard.type('typed')
    await key.page.keyboard.press('Enter')
    await key.page.getByText('Copy the key now').waitFor()
    await key.page.close()

    const connection = await openDialog('#/connections', 'New connection', 'User')
    await connection.page.keyboard.type('ada')
    await connection.page.keyboard.press('Enter')
    await connection.page
      .getByText('The ticket works once')
      .or(connection.page.getByText('ticket works once'))
      .waitFor()
    await connection.page.close()

    const { page, dialog } = await openDialog('#/memory', 'New memory', 'Key')
    await page.keyboard.type('typed/key')
    await dialog.getByLabel('Value').fill('It is kept.')
    await dialog.getByLabel('Tags').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'typed/key' }).click()
    await press(page.getByRole('button', { name: 'Edit' }))
    await hasFocus(dialog.getByLabel('Kind'))
    await page.close()
  })

  it('do not destroy anything by Enter alone, nor with Ctrl', async () => {
    const { record } = await under.platform.gateway.keys.create({ name: 'stays', scopes: ['inference'] })
    const page = await under.open(`#/keys/${record.id}`)
    const revoke = page.getByRole('button', { name: 'Revoke', exact: true })
    await press(revoke)
    const dialog = page.getByRole('dialog')
    await hasFocus(dialog.getByRole('button', { name: 'Cancel' }))
    await page.keyboard.press('Control+Enter')
    await hasFocus(dialog.getByRole('button', { name: 'Cancel' }))
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await press(revoke)
    await press(dialog.getByRole('button', { name: /Revoke/ }))
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('revoked', { exact: true }).waitFor()
    await page.close()
  })
})
