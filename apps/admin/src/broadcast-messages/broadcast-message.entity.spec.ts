import { Invalid } from '@rookery/kernel';
import { BroadcastMessage } from './broadcast-message.entity';

const now = new Date('2026-11-21T10:00:00.000Z');
const minutesFromNow = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

describe('BroadcastMessage', () => {
  it('is by default a banner for all users, active from now for one hour', () => {
    const message = BroadcastMessage.create({ message: 'Tea at four' }, now);
    expect(message).toMatchObject({
      message: 'Tea at four',
      startsAt: now,
      endsAt: minutesFromNow(60),
      font: '#FFFFFF',
      targetAccessLevels: [],
      targetPath: null,
      broadcastType: 'banner',
      theme: 'indigo',
      dismissable: false,
    });
    expect([
      message.isActive(minutesFromNow(-1)),
      message.isActive(now),
      message.isActive(minutesFromNow(59)),
      message.isActive(minutesFromNow(60)),
    ]).toEqual([false, true, true, false]);
  });

  it('is never active when it ends before it starts', () => {
    const message = BroadcastMessage.create(
      { message: 'x', starts_at: minutesFromNow(10), ends_at: minutesFromNow(5) },
      now,
    );
    expect([0, 6, 9, 11].some((minutes) => message.isActive(minutesFromNow(minutes)))).toBe(false);
  });

  it('keeps omitted fields and can clear the font colour', () => {
    const message = BroadcastMessage.create({ message: 'x', theme: 'red', target_path: '/a/*' }, now);
    message.change({ font: '' }, minutesFromNow(1));
    expect(message).toMatchObject({
      message: 'x',
      theme: 'red',
      targetPath: '/a/*',
      font: null,
      updatedAt: minutesFromNow(1),
    });
  });

  it.each([
    [{ message: ' ' }, { message: ["can't be blank"] }],
    [{ message: 'x', font: 'white' }, { font: ['must be a valid color code'] }],
    [{ message: 'x', font: '#12345' }, { font: ['must be a valid color code'] }],
  ])('refuses %j', (input, fields) => {
    let refusal: unknown;
    try {
      BroadcastMessage.create(input, now);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(Invalid);
    expect((refusal as Invalid).fields).toEqual(fields);
  });
});
