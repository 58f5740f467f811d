/** Units: milliseconds. Clocks of processes and database never differ as much. */
const BACKDATED_MS = 3_600_000;

/**
 * When the cause of an effect happened, by the clock of the database where it says so: what follows from several
 * events is compared with the times of rows. A back-dated thing has its effects now, not in the past.
 * Shape: both ISO 8601; `stated` is the time that the event's payload carries.
 */
export function causedAt(event: { readonly time: string }, stated: string): string {
  return Date.parse(event.time) - Date.parse(stated) > BACKDATED_MS ? event.time : stated;
}
