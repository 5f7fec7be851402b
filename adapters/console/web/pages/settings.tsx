import { Page } from '../components/index.ts'

/** Configuration, models and keys. */
export default function Settings() {
  return <Page title="Settings" />
}
