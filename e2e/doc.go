// Package e2e drives the built binary: journeys in a browser, the sweep over the
// previews, and the drills in which servers and targets die. It also holds the
// laws of the house.
package e2e
