/** Units: milliseconds. Clocks of processes and database never differ as much. */
const MISDATED_MS = 3_600_000;

/**
 * When the cause of an effect happened, by the clock of the database where it says so: what follows from several
 * events is compared with the times of rows. A thing dated by hand has its effects now: neither in the past, nor in a
 * future that would hold them at the top of every list.
 * Shape: both ISO 8601; `stated` is the time that the event's payload carries.
 */
export function causedAt(event: { readonly time: string }, stated: string): string {
  return Math.abs(Date.parse(event.time) - Date.parse(stated)) > MISDATED_MS ? event.time : stated;
}
