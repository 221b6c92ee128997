import { auditedFields } from './audit-fields.ts';

test('fields that changed are recorded with the names of the API; personal data and free text only by name', () => {
  const before = {
    saleStatus: 'open',
    pauseReason: null,
    kickoffAt: new Date(0),
    contactEmail: 'ana@example.hr',
    name: 'Torcida',
  };
  const after = { saleStatus: 'paused', pauseReason: 'floodlights', kickoffAt: new Date(0), contactEmail: null, name: 'Torcida' };
  expect(auditedFields({ before, after })).toEqual({
    before: { sale_status: 'open', pause_reason: null, contact_email: '[not recorded]' },
    after: { sale_status: 'paused', pause_reason: '[not recorded]', contact_email: null },
  });
});

test('a new object has all its fields, an omitted field has none, and an act without a change has neither', () => {
  expect(auditedFields({ before: null, after: { kind: 'club', note: undefined } })).toEqual({
    before: null,
    after: { kind: 'club' },
  });
  expect(auditedFields({ before: { a: [1] }, after: { a: [1] } })).toEqual({ before: {}, after: {} });
  expect(auditedFields({ before: null, after: null })).toEqual({ before: null, after: null });
});
