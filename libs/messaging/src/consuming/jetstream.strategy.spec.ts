import { EventFamily, noteCreated, noteDeleted, noteUpdated } from '@rookery/contracts';
import { Metrics } from '@rookery/platform';
import { JetStreamStrategy } from './jetstream.strategy';

const family = new EventFamily<typeof noteCreated | typeof noteUpdated>('notes written');
const strategyOf = (): JetStreamStrategy =>
  new JetStreamStrategy(
    { metrics: new Metrics() } as never,
    (asked) => (asked === family ? [noteCreated, noteUpdated] : []),
    () => Promise.resolve(true),
  );
const handler = (): Promise<void> => Promise.resolve();

test('a handler of a family is an effect of each of its events, under one name', () => {
  const strategy = strategyOf();
  strategy.addHandler(family.name, handler, true, { effect: 'mark', of: family, gatherMs: 100 });
  expect(strategy.handled.map(({ name, definition, gatherMs }) => [name, definition.subject, gatherMs])).toEqual([
    ['mark', noteCreated.subject, 100],
    ['mark', noteUpdated.subject, 100],
  ]);
});

test('an effect is refused twice for one event, on its own or in a family', () => {
  const strategy = strategyOf();
  strategy.addHandler(family.name, handler, true, { effect: 'mark', of: family });
  strategy.addHandler(noteDeleted.subject, handler, true, { effect: 'mark', of: noteDeleted });
  const again = () => strategy.addHandler(noteUpdated.subject, handler, true, { effect: 'mark', of: noteUpdated });
  expect(again).toThrow(`two handlers have the effect mark on ${noteUpdated.subject}`);
});
