test('fails: a timer is not cleared', () => {
  setTimeout(() => undefined, 4_000);
});
