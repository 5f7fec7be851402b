import { Page } from '../components/index.ts'

/** How Gazeway is, what it cost today, and who spent it. */
export default function Overview() {
  return <Page title="Overview" />
}
