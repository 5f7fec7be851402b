import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import type { DepositReceipt } from '../../../../../src/wallet/ledger/deposits.ts'
import { api } from '../../api.ts'
import { Dialog, Field, notify, SubmitForm, TextInput } from '../../components/components.ts'
import { usd } from '../../format.ts'
import { amountIn } from '../../typed.ts'

/** Credits the account of a key. */
export function DepositDialog({ to, onClose }: { to: KeyRecord; onClose: () => void }) {
  const [amount, setAmount] = useState('')
  const [reference, setReference] = useState('')

  const deposit = async () => {
    const body = { caller_id: to.id, amount_usd: amountIn(amount), reference: reference.trim() }
    const { available_usd } = await api.post<DepositReceipt>('/api/wallet/metered/deposit', body)
    notify(`${to.name} now has ${usd(available_usd)}.`)
    onClose()
  }
  return (
    <Dialog title={`Deposit for ${to.name}`} open onClose={onClose}>
      <SubmitForm action="Add deposit" onSubmit={deposit} onCancel={onClose}>
        {(faultOf) => (
          <>
            <Field label="Amount in USD" error={faultOf('amount_usd')}>
              <TextInput value={amount} onInput={setAmount} inputMode="decimal" required />
            </Field>
            <Field
              label="Reference"
              hint="Unique id of the payment, such as an invoice number. Each is credited once."
              error={faultOf('reference')}
            >
              <TextInput value={reference} onInput={setReference} required autoComplete="off" />
            </Field>
          </>
        )}
      </SubmitForm>
    </Dialog>
  )
}
