package environment

// Undone is the failure of an acquisition of which nothing is left: what the driver
// had made is gone again, by its provider's word, which is the receipt. It reads
// as Err.
type Undone struct {
	Err     error
	Receipt Receipt
}

func (u *Undone) Error() string { return u.Err.Error() }
func (u *Undone) Unwrap() error { return u.Err }
